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
