package graph

// Kronecker is the recipe of a Graph500 input: the reference generator's parameters.
type Kronecker struct {
	Scale      int    `json:"scale"`
	EdgeFactor int    `json:"edgefactor"`
	Seed1      uint64 `json:"seed1"`
	Seed2      uint64 `json:"seed2"`
}
