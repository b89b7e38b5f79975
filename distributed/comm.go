package distributed

// Comm is what ranks need of each other: a group of them, each of which makes the same calls in the same order. It has
// two implementations, goroutines of a process (local.go) and MPI (mpi.go), and everything that is counted about messages
// is counted above it (record.go).
//
// A message is a slice of 32-bit words. What a rank gives to a call it may change only after a later call in which all
// of the group took part; what it receives is valid as long, and may not be changed.
type Comm interface {
	// Rank is the caller's place in the group, Size the number of its members.
	Rank() int
	Size() int

	// Split makes the groups of those who give the same color, in the order of their keys. All members call it.
	Split(color, key int) Comm

	// Allgatherv sends one message to every other member, and puts the message of member k into receive[k]; the
	// caller's own is there too.
	Allgatherv(send []uint32, receive [][]uint32)

	// Alltoallv sends send[k] to member k, for every k but the caller, and puts what member k sent into receive[k]. The
	// caller's own message is handed through.
	Alltoallv(send, receive [][]uint32)

	// Allreduce replaces values, at most maxReduce of them, by their sums or largest values over all members.
	Allreduce(op Op, values []int64)

	// Send gives a message to one member, who takes it with Receive. Messages between two members keep their order.
	// Send may wait until the message is taken.
	Send(to int, message []uint32)
	Receive(from int) []uint32
}

// Op says what Allreduce does.
type Op int

const (
	Sum Op = iota
	Max
)

const maxReduce = 8

func (op Op) fold(into, values []int64) {
	for i, v := range values {
		switch op {
		case Sum:
			into[i] += v
		case Max:
			into[i] = max(into[i], v)
		}
	}
}
