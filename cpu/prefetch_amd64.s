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

// func prefetchNeighbors(states *uint64, heads *layout.Head, size int, us *uint64, n int)
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
	ADDQ       $8, CX
	DECQ       DX
	JNZ        following
	RET
