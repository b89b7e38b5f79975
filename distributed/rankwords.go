package distributed

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"

	"github.com/tepsbench/teps/plugins"
)

// What ranks tell rank 0 beside numbers: records, phases and failures, as bytes in messages of words.

// collect brings some bytes of every rank to rank 0.
func (r *rank) collect(data []byte) [][]byte {
	message := pack(data)
	if r.world.Rank() != 0 {
		r.world.Send(0, message)
		return nil
	}
	all := [][]byte{data}
	for k := 1; k < r.world.Size(); k++ {
		all = append(all, unpack(r.world.Receive(k)))
	}
	return all
}

func failureText(err error) string {
	if err == nil || errors.Is(err, errElsewhere) {
		return ""
	}
	return err.Error()
}

// refusal makes an answer of a failure; others are the words of all ranks.
func refusal(err error, others [][]byte) answer {
	a := answer{Failure: err.Error()}
	if errors.Is(err, errElsewhere) {
		for _, words := range others {
			if len(words) > 0 {
				a.Failure = string(words)
			}
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		a.Kind = failureCancelled
	case errors.Is(err, plugins.ErrTuples), bytes.Contains([]byte(a.Failure), []byte(plugins.ErrTuples.Error())):
		a.Kind = failureTuples
	case errors.Is(err, plugins.ErrMemory), bytes.Contains([]byte(a.Failure), []byte(plugins.ErrMemory.Error())):
		a.Kind = failureMemory
	}
	return a
}

// mustGob encodes what cannot fail to be encoded.
func mustGob(what any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(what); err != nil {
		panic(fmt.Sprintf("distributed: encode %T: %v", what, err))
	}
	return b.Bytes()
}

func encode(q request) []uint32 { return pack(mustGob(q)) }

func decode(message []uint32, q *request) error {
	return gob.NewDecoder(bytes.NewReader(unpack(message))).Decode(q)
}

// pack makes words of bytes: their number, and four to a word.
func pack(data []byte) []uint32 {
	padded := append(append([]byte{}, data...), 0, 0, 0)
	words := []uint32{uint32(len(data))}
	for k := 0; k+4 <= len(padded); k += 4 {
		words = append(words, binary.LittleEndian.Uint32(padded[k:]))
	}
	return words
}

func unpack(words []uint32) []byte {
	var data []byte
	for _, w := range words[1:] {
		data = binary.LittleEndian.AppendUint32(data, w)
	}
	return data[:words[0]]
}
