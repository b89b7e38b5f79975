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
