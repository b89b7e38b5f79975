#include "textflag.h"

// SIXTEEN looks up 16 entries, those that the lowest 16 bits of CX stand for, and leaves in R8 those in the bitmap. An
// entry's bit is found in words of 32 bits. Z30 is 31 and Z31 is 1 in all lanes.
#define SIXTEEN(offset) \
	KMOVW       CX, K1              \
	KMOVW       CX, K2              \
	VMOVDQU32.Z offset(BX), K1, Z0  \
	VPSRLD      $5, Z0, Z1          \
	VPANDD      Z30, Z0, Z0         \
	VPXORD      Z2, Z2, Z2          \
	VPGATHERDD  (AX)(Z1*4), K1, Z2  \
	VPSRLVD     Z0, Z2, Z2          \
	VPTESTMD    Z31, Z2, K2, K3     \
	KMOVW       K3, R8

// func vector64(b *uint64, entry *uint32, word uint64) (found uint64)
TEXT ·vector64(SB), NOSPLIT, $0-32
	MOVQ         b+0(FP), AX
	MOVQ         entry+8(FP), BX
	MOVQ         word+16(FP), CX
	MOVL         $31, R9
	VPBROADCASTD R9, Z30
	MOVL         $1, R9
	VPBROADCASTD R9, Z31
	SIXTEEN(0)
	MOVQ         R8, DX
	SHRQ         $16, CX
	SIXTEEN(64)
	SHLQ         $16, R8
	ORQ          R8, DX
	SHRQ         $16, CX
	SIXTEEN(128)
	SHLQ         $32, R8
	ORQ          R8, DX
	SHRQ         $16, CX
	SIXTEEN(192)
	SHLQ         $48, R8
	ORQ          R8, DX
	MOVQ         DX, found+24(FP)
	VZEROUPPER
	RET

// func vector32(b, entry *uint32, word uint32) (found uint32)
TEXT ·vector32(SB), NOSPLIT, $0-28
	MOVQ         b+0(FP), AX
	MOVQ         entry+8(FP), BX
	MOVL         word+16(FP), CX
	MOVL         $31, R9
	VPBROADCASTD R9, Z30
	MOVL         $1, R9
	VPBROADCASTD R9, Z31
	SIXTEEN(0)
	MOVL         R8, DX
	SHRL         $16, CX
	SIXTEEN(64)
	SHLL         $16, R8
	ORL          R8, DX
	MOVL         DX, found+24(FP)
	VZEROUPPER
	RET

// Thrice 0 to 15, the words of 16 tuples where the labels of a first end begin.
DATA thrice<>+0(SB)/8, $0x15120f0c09060300
DATA thrice<>+8(SB)/8, $0x2d2a2724211e1b18
GLOBL thrice<>(SB), RODATA|NOPTR, $16

// HIGH adds to K1 the upper halves, the third words of tuples, that are not 0 in a register.
#define HIGH(words, thirds) \
	MOVL     $thirds, R10           \
	KMOVW    R10, K2                \
	VPTESTMD words, words, K2, K3   \
	KORW     K3, K1, K1

// func vectorTight(tuple *graph.Edge, weight, distance *float32, n, vertices int, tight *uint64) bool
TEXT ·vectorTight(SB), NOSPLIT, $0-49
	MOVQ         tuple+0(FP), SI
	MOVQ         weight+8(FP), DX
	MOVQ         distance+16(FP), DI
	MOVQ         n+24(FP), CX
	MOVQ         vertices+32(FP), R8
	MOVQ         tight+40(FP), R9
	VPBROADCASTD R8, Z31
	MOVL         $1, R10
	VPBROADCASTD R10, Z21
	VPMOVZXBD    thrice<>(SB), Z20
	VPADDD       Z20, Z21, Z21
	MOVL         $0xf800, R10 // tuples whose ends are in the last 16 words
	KMOVW        R10, K7

next:
	VMOVDQU32  (SI), Z0
	VMOVDQU32  64(SI), Z1
	VMOVDQU32  128(SI), Z2
	VMOVDQA64  Z20, Z3
	VPERMI2D   Z1, Z0, Z3     // u
	VPERMD     Z2, Z20, K7, Z3
	VMOVDQA64  Z21, Z4
	VPERMI2D   Z1, Z0, Z4     // v
	VPERMD     Z2, Z21, K7, Z4
	VPMAXUD    Z3, Z4, Z5
	VPCMPUD    $5, Z31, Z5, K1 // no vertex
	HIGH(Z0, 0x4924)
	HIGH(Z1, 0x2492)
	HIGH(Z2, 0x9249)
	KORTESTW   K1, K1
	JNZ        wrong
	KXNORW     K1, K1, K1
	KXNORW     K2, K2, K2
	VPXORD     Z5, Z5, Z5
	VPXORD     Z6, Z6, Z6
	VGATHERDPS (DI)(Z3*4), K1, Z5
	VGATHERDPS (DI)(Z4*4), K2, Z6
	VMOVUPS    (DX), Z7
	VADDPS     Z7, Z5, Z8
	VADDPS     Z7, Z6, Z9
	VCMPPS     $0x1e, Z6, Z8, K1 // greater
	VCMPPS     $0x1e, Z5, Z9, K1, K2
	VPCMPD     $4, Z4, Z3, K2, K3 // not equal
	KNOTW      K3, K3
	KMOVW      K3, R10
	MOVW       R10, (R9)
	ADDQ       $192, SI
	ADDQ       $64, DX
	ADDQ       $2, R9
	SUBQ       $16, CX
	JNZ        next
	VZEROUPPER
	MOVB       $1, ret+48(FP)
	RET

wrong:
	VZEROUPPER
	MOVB $0, ret+48(FP)
	RET
