package cpu

// chains collect pairs of numbers by region of the first one, for whoever works on a region later: parents that are not the
// template's by label (output.go), and offers by vertex (topdown.go). They are what one worker writes.
//
// A pair is key<<32 | value. The pairs of a region are a chain of blocks that all lie in one array: the first word of a
// block is the block before it in the chain.
type chains struct {
	entries []uint64
	ends    []int // [regions] where the next pair goes; a multiple of chainBlock: nowhere yet, or a full block
	blocks  int   // in use
	shift   int   // region of a key is key>>shift
}

const (
	regionBits = 15      // keys of a region, as a power of two: 256 KiB of 64-bit parents
	maxRegions = 1 << 12 // larger graphs have larger regions
	chainBlock = 64      // words in a block
)

// regions says how many regions a number of keys has and how far to shift a key to find its own.
func regions(keys int) (n, shift int) {
	shift = regionBits
	for keys>>shift >= maxRegions {
		shift++
	}
	return (keys + 1<<shift - 1) >> shift, shift
}

// allocate makes room for so many pairs.
func (c *chains) allocate(m *memory, keys, pairs int) (err error) {
	n, shift := regions(keys)
	c.shift = shift
	if c.ends, err = allocate[int](m, "regions", n); err != nil {
		return err
	}
	blocks := 1 + n + pairs/(chainBlock-1)
	c.entries, err = allocate[uint64](m, "pairs by region", blocks*chainBlock)
	return err
}

func (c *chains) reset() {
	clear(c.ends)
	c.blocks = 1 // block 0 ends every chain
}

// add adds a pair.
func (c *chains) add(key, value uint32) {
	region := key >> c.shift
	at := c.ends[region]
	if at&(chainBlock-1) == 0 {
		begin := c.blocks * chainBlock
		c.blocks++
		c.entries[begin] = uint64(max(at-chainBlock, 0)) // the full block before, or block 0
		at = begin + 1
	}
	c.entries[at] = uint64(key)<<32 | uint64(value)
	c.ends[region] = at + 1
}

// block returns the pairs of the block that ends at end, which is not 0, and where the block before it ends; 0: there is
// none.
func (c *chains) block(end int) (pairs []uint64, before int) {
	begin := (end - 1) &^ (chainBlock - 1)
	if before = int(c.entries[begin]); before != 0 {
		before += chainBlock
	}
	return c.entries[begin+1 : end], before
}
