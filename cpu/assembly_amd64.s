#include "textflag.h"

// func prefetch(array *uint32, length int, us *uint64, n int)
TEXT ·prefetch(SB), NOSPLIT, $0-32
	MOVQ array+0(FP), AX
	MOVQ length+8(FP), BX
	MOVQ us+16(FP), CX
	MOVQ n+24(FP), DX

next:
	MOVL       (CX), SI
	IMULQ      BX, SI
	PREFETCHT0 (AX)(SI*4)
	ADDQ       $8, CX
	DECQ       DX
	JNZ        next
	RET

// func prefetchNeighbors(states *uint64, heads *layout.Head, size int, us *uint32, n int)
TEXT ·prefetchNeighbors(SB), NOSPLIT, $0-40
	MOVQ states+0(FP), AX
	MOVQ heads+8(FP), DI
	MOVQ size+16(FP), BX
	MOVQ us+24(FP), CX
	MOVQ n+32(FP), DX

following:
	MOVL       (CX), SI
	IMULQ      BX, SI
	MOVL       (DI)(SI*1), SI
	PREFETCHT0 (AX)(SI*8)
	ADDQ       $4, CX
	DECQ       DX
	JNZ        following
	RET

// func prefetchLines(first *byte, bytes int)
TEXT ·prefetchLines(SB), NOSPLIT, $0-16
	MOVQ first+0(FP), AX
	MOVQ bytes+8(FP), BX
	ADDQ AX, BX
	JMP  check

line:
	PREFETCHT0 (AX)
	ADDQ       $64, AX

check:
	CMPQ AX, BX
	JB   line
	RET

// func vectorFirst(states *uint64, heads *layout.Head, us *uint32, n int, low float32, rest, hard *uint32)
//	(rests, hards int)
TEXT ·vectorFirst(SB), NOSPLIT, $0-72
	MOVQ         states+0(FP), AX
	MOVQ         heads+8(FP), BX
	MOVQ         us+16(FP), SI
	MOVQ         n+24(FP), CX
	VBROADCASTSS low+32(FP), Z31
	MOVQ         rest+40(FP), DI
	MOVQ         hard+48(FP), DX
	MOVQ         $0xffffffff, R10
	VPBROADCASTQ R10, Z30    // lower halves
	MOVQ         $1<<63, R10
	VPBROADCASTQ R10, Z29    // final
	MOVL         $0xaaaa, R10
	KMOVW        R10, K7     // upper halves

eight:
	VPMOVZXDQ   (SI), Z1           // vertices
	VPADDQ      Z1, Z1, Z2         // their heads have two words each
	KXNORW      K1, K1, K1
	KXNORW      K2, K2, K2
	KXNORW      K3, K3, K3
	KXNORW      K4, K4, K4
	VPXORQ      Z3, Z3, Z3
	VPXORQ      Z4, Z4, Z4
	VPXORQ      Z5, Z5, Z5
	VPXORQ      Z6, Z6, Z6
	VPGATHERQQ  (BX)(Z2*8), K1, Z3 // weight, neighbor
	VPANDQ      Z30, Z3, Z7
	VPGATHERQQ  (AX)(Z7*8), K2, Z6 // state of the neighbor
	VPGATHERQQ  (AX)(Z1*8), K3, Z4 // own state
	VPGATHERQQ  8(BX)(Z2*8), K4, Z5 // next bound, label
	VPTESTNMQ   Z29, Z4, K1        // open
	VPTESTMQ    Z29, Z6, K1, K2    // ready
	VPANDNQ     Z6, Z29, Z6
	VMOVDQA64   Z5, Z9
	VADDPS      Z6, Z3, K7, Z9     // the state over the entry
	VPSRLQ      $32, Z9, Z7
	VPSRLQ      $32, Z4, Z8
	VPCMPUQ     $1, Z8, Z7, K3     // nearer
	VMOVDQA64   Z9, K3, Z4
	VPSRLQ      $32, Z4, Z8
	VADDPS      Z31, Z5, Z5
	VPSRLQ      $32, Z5, Z5
	VPCMPUQ     $1, Z8, Z5, K2, K3 // ready and not enough: rest
	KANDNW      K2, K3, K4         // ready and enough
	KANDNW      K1, K2, K5         // open and not ready: hard
	VPORQ       Z29, Z4, Z4
	VPSCATTERQQ Z4, K4, (AX)(Z1*8)
	VPCOMPRESSQ Z1, K3, Z7
	VPMOVQD     Z7, (DI)
	KMOVW       K3, R8
	POPCNTL     R8, R8
	LEAQ        (DI)(R8*4), DI
	VPCOMPRESSQ Z1, K5, Z8
	VPMOVQD     Z8, (DX)
	KMOVW       K5, R9
	POPCNTL     R9, R9
	LEAQ        (DX)(R9*4), DX
	ADDQ        $32, SI
	SUBQ        $8, CX
	JNZ         eight
	VZEROUPPER
	SUBQ        rest+40(FP), DI
	SHRQ        $2, DI
	MOVQ        DI, rests+56(FP)
	SUBQ        hard+48(FP), DX
	SHRQ        $2, DX
	MOVQ        DX, hards+64(FP)
	RET
