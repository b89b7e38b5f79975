package rpc

// What an engine cannot make the host accept: every limit of plugins/limits.go, broken by a server without the checks
// of Serve, as an engine in another language may be.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
	"github.com/tepsbench/teps/serial"
)

// answers change what a liar answers to each call.
type answers struct {
	describe  func(*plugins.Description)
	construct func(*plugins.Construction)
	search    func(*plugins.Traversal)
	fail      string // the error of the search
}

func word(n int) string { return strings.Repeat("a", n) }

func options(o ...plugins.Option) func(*plugins.Description) {
	return func(d *plugins.Description) { d.Options = o }
}

func levels(n int, l plugins.Level) func(*plugins.Traversal) {
	return func(t *plugins.Traversal) { t.Levels = slices.Repeat([]plugins.Level{l}, n) }
}

func phases(p ...plugins.Phase) func(*plugins.Traversal) {
	return func(t *plugins.Traversal) { t.Phases = p }
}

func memory(m plugins.Memory) func(*plugins.Description) {
	return func(d *plugins.Description) { d.Memory = m }
}

// impossibles are answers with one fault each, and what the error says.
func impossibles() map[string]struct {
	answers
	want string
} {
	return map[string]struct {
		answers
		want string
	}{
		"a name of 1 MB": {
			answers{describe: func(d *plugins.Description) { d.Name = word(1e6) }},
			"at most 128 bytes, not 1000000",
		},
		"a name of 10 MB": {
			answers{describe: func(d *plugins.Description) { d.Name = word(1e7) }},
			"larger than max",
		},
		"a name with a slash": {
			answers{describe: func(d *plugins.Description) { d.Name = "../../etc" }},
			`name is "../../etc"; want a word`,
		},
		"a name in capitals": {
			answers{describe: func(d *plugins.Description) { d.Name = "Mine" }},
			`name is "Mine"; want a word`,
		},
		"no name": {
			answers{describe: func(d *plugins.Description) { d.Name = "" }},
			`name is "";`,
		},
		"a name in two lines": {
			answers{describe: func(d *plugins.Description) { d.Name = "a\nb" }},
			`name is "a\nb"; want one line`,
		},
		"a terminal's code": {
			answers{describe: func(d *plugins.Description) { d.Summary = "\x1b[2J" }},
			`summary is "\x1b[2J"; want one line`,
		},
		"a long summary": {
			answers{describe: func(d *plugins.Description) { d.Summary = word(1025) }},
			"at most 1024 bytes, not 1025",
		},
		"invalid UTF-8": {
			answers{describe: func(d *plugins.Description) { d.Version = standIn }},
			"field teps.engine.v1.Description.version contains invalid UTF-8",
		},
		"negative memory": {answers{describe: memory(plugins.Memory{Fixed: -1})}, "memory.fixed is -1"},
		"infinite memory": {
			answers{describe: memory(plugins.Memory{PerTuple: math.Inf(1)})},
			"memory.per_tuple is +Inf",
		},
		"memory of NaN": {
			answers{describe: memory(plugins.Memory{PerVertex: math.NaN()})},
			"memory.per_vertex is NaN",
		},
		"2^60 vertices": {
			answers{describe: func(d *plugins.Description) { d.Limits.Vertices = 1 << 60 }},
			"limits.vertices is",
		},
		"257 devices": {
			answers{describe: func(d *plugins.Description) { d.Devices = make([]plugins.Device, 257) }},
			"devices has 257 elements; want at most 256",
		},
		"an option's name": {
			answers{describe: options(plugins.Option{Name: "a b", Kind: plugins.Int})},
			`options[0].name is "a b"`,
		},
		"an option's kind": {
			answers{describe: options(plugins.Option{Name: "a", Kind: "any"})},
			`options[0].kind is "any"`,
		},
		"bounds of an option": {
			answers{describe: options(
				plugins.Option{Name: "a", Kind: plugins.Int, Min: plugins.Bound(3), Max: plugins.Bound(2)})},
			"options[0].min is 3; want at most max, 2",
		},
		"a bound of NaN": {
			answers{describe: options(plugins.Option{Name: "a", Kind: plugins.Int, Min: plugins.Bound(math.NaN())})},
			"options[0].min is NaN",
		},
		"a bound of infinity": {
			answers{describe: options(plugins.Option{Name: "a", Kind: plugins.Int, Min: plugins.Bound(math.Inf(1))})},
			"options[0].min is +Inf",
		},
		"1000 options": {
			answers{describe: options(make([]plugins.Option, 1000)...)},
			"options has 1000 elements",
		},
		"choices of an option": {
			answers{describe: options(plugins.Option{Name: "a", Kind: plugins.Choice, Choices: make([]string, 300)})},
			"options[0].choices has 300 elements",
		},

		"negative kernel 1": {
			answers{construct: func(c *plugins.Construction) { c.Elapsed = -1 }},
			"elapsed_ns is -1",
		},
		"negative bytes": {
			answers{construct: func(c *plugins.Construction) { c.Bytes = -1 }},
			"bytes is -1",
		},
		"bytes beyond 2^53": {
			answers{construct: func(c *plugins.Construction) { c.Bytes = 1<<53 + 1 }},
			"bytes is 9007199254740993",
		},
		"negative entries": {
			answers{construct: func(c *plugins.Construction) { c.Entries = plugins.Counted(-1) }},
			"entries is -1",
		},
		"65 bits": {
			answers{construct: func(c *plugins.Construction) { c.Claims.VertexBits = 65 }},
			"vertex_bits is 65; want a number from 0 to 64",
		},
		"negative bits": {
			answers{construct: func(c *plugins.Construction) { c.Claims.ParentBits = -1 }},
			"claims.parent_bits is -1",
		},
		"300 details": {
			answers{construct: func(c *plugins.Construction) { c.Details = make([]plugins.Fact, 300) }},
			"details has 300 elements",
		},
		"a detail's newline": {
			answers{construct: func(c *plugins.Construction) { c.Details = []plugins.Fact{{Name: "a", Value: "b\nc"}} }},
			`details[0].value is "b\nc"`,
		},

		"a negative time": {
			answers{search: func(t *plugins.Traversal) { t.Elapsed = -1 }},
			"elapsed_ns is -1",
		},
		"140,000 levels": {
			answers{search: levels(140_000, plugins.Level{})},
			"levels has 140000 elements; want at most 131072",
		},
		"1,000,000 levels": {answers{search: levels(1_000_000, plugins.Level{Elapsed: 9})}, "1000000"},
		"more levels than tree": {
			answers{search: levels(65, plugins.Level{})},
			"levels has 65 elements; want at most 4, because 3",
		},
		"a negative frontier": {
			answers{search: levels(1, plugins.Level{Frontier: -5})},
			"levels[0].frontier is -5",
		},
		"a frontier of more": {
			answers{search: levels(2, plugins.Level{Frontier: 2})},
			"sum of the frontiers is 4; want at most the 3 vertices",
		},
		"a sum that overflows": {
			answers{search: levels(3, plugins.Level{Frontier: math.MaxInt64})},
			"levels[0].frontier is",
		},
		"a negative count": {
			answers{search: levels(1, plugins.Level{Edges: plugins.Counted(-1)})},
			"levels[0].edges is -1",
		},
		"a direction": {
			answers{search: levels(1, plugins.Level{Direction: 9})},
			"levels[0].direction is",
		},
		"4097 ranks": {
			answers{search: func(t *plugins.Traversal) { t.Ranks = make([]plugins.Rank, 4097) }},
			"ranks has 4097 elements; want at most 4096",
		},
		"300 phases": {
			answers{search: phases(make([]plugins.Phase, 300)...)},
			"phases has 300 elements",
		},
		"a phase's name": {
			answers{search: phases(plugins.Phase{Name: word(129)})},
			"at most 128 bytes, not 129",
		},
		"a phase's bytes": {
			answers{search: phases(plugins.Phase{Bytes: plugins.Counted(-1)})},
			"phases[0].bytes is -1",
		},
		"a level's name": {
			answers{search: levels(1, plugins.Level{Phases: []plugins.Phase{{Name: standIn}}})},
			"field teps.engine.v1.Phase.name contains invalid UTF-8",
		},
		"an error of 3 MB": {answers{fail: word(3e6)}, word(10)},
	}
}

// careless is a codec that sends standIn as text that is not UTF-8.
type careless struct{ codec }

const standIn = "??"

func (c careless) Marshal(v any) ([]byte, error) {
	data, err := c.codec.Marshal(v)
	return bytes.ReplaceAll(data, []byte(standIn), []byte("\xff\xfe")), err
}

// liar is a server that gives its answers without checking them.
type liar struct {
	enginepb.UnimplementedEngineServer
	answers
}

func (l liar) Describe(ctx context.Context, _ *enginepb.DescribeRequest) (*enginepb.Description, error) {
	d, err := serial.New().Describe(ctx)
	if l.describe != nil {
		l.describe(&d)
	}
	return descriptionToWire(d), err
}

func (l liar) Construct(context.Context, *enginepb.ConstructRequest) (*enginepb.Construction, error) {
	c := plugins.Construction{Elapsed: 1}
	if l.construct != nil {
		l.construct(&c)
	}
	return constructionToWire(c), nil
}

func (l liar) Search(_ context.Context, request *enginepb.SearchRequest) (*enginepb.Traversal, error) {
	m, err := attach(request.GetParent(), parentSegment, true)
	if err != nil {
		return nil, err
	}
	defer m.unmap()
	clear(view[graph.Vertex](m.bytes))
	t := plugins.Traversal{Elapsed: 1}
	if l.search != nil {
		l.search(&t)
	}
	if l.fail != "" {
		err = &engineError{text: l.fail}
	}
	return traversalToWire(t), err
}

// connect makes a client talk to another server, which runs in this process.
func (l liar) connect(t *testing.T, client *Client) {
	listener := bufconn.Listen(1 << 20)
	served := grpc.NewServer(grpc.ForceServerCodec(careless{}))
	enginepb.RegisterEngineServer(served, l)
	go served.Serve(listener)
	connection, err := grpc.NewClient("passthrough:liar", grpc.WithTransportCredentials(insecure.NewCredentials()),
		answerLimits(), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return listener.DialContext(ctx)
		}))
	if err != nil {
		t.Fatal(err)
	}
	honest := client.engine
	client.engine = enginepb.NewEngineClient(connection)
	t.Cleanup(func() {
		client.engine = honest
		connection.Close()
		served.Stop()
	})
}

func TestEveryImpossibleAnswerIsRefused(t *testing.T) {
	s := newStage(t)
	input, parents, client := s.triangle(), s.parents(3), s.open("serial")
	for name, c := range impossibles() {
		t.Run(name, func(t *testing.T) {
			liar{answers: c.answers}.connect(t, client)
			_, err := client.Describe(t.Context())
			if c.describe == nil && err == nil {
				_, err = client.Construct(t.Context(), input)
			}
			if c.describe == nil && c.construct == nil && err == nil {
				_, err = client.Search(t.Context(), 0, parents)
			}
			switch {
			case !errors.Is(err, ErrAnswer) || !strings.Contains(err.Error(), c.want):
				t.Errorf("got %.300v, want ErrAnswer with %q", err, c.want)
			case len(err.Error()) > maxText+200 || c.fail == "" && len(err.Error()) > 300:
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			if _, err := client.Construct(t.Context(), input); c.construct == nil && err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// FuzzAnswers gives the host answers of any bytes. It must refuse or convert them, and what it accepts fits into a
// record: JSON can hold it, and its size is bounded.
func FuzzAnswers(f *testing.F) {
	for _, c := range impossibles() {
		for call, l := 0, (liar{answers: c.answers}); call < 3; call++ {
			var message proto.Message
			switch call {
			case 0:
				message, _ = l.Describe(context.Background(), nil)
			case 1:
				message, _ = l.Construct(context.Background(), nil)
			case 2:
				message, _ = l.Search(context.Background(), nil)
			}
			if data, err := proto.Marshal(message); err == nil && len(data) < 1<<16 {
				f.Add(byte(call), data)
			}
		}
	}
	parent := []graph.Vertex{0, 0, graph.Unreached}
	f.Fuzz(func(t *testing.T, call byte, data []byte) {
		var accepted any
		var err error
		switch call % 3 {
		case 0:
			var wire enginepb.Description
			if proto.Unmarshal(data, &wire) != nil {
				return
			}
			accepted, err = descriptionFromWire(&wire)
		case 1:
			var wire enginepb.Construction
			if proto.Unmarshal(data, &wire) != nil {
				return
			}
			accepted, err = constructionFromWire(&wire)
		case 2:
			var wire enginepb.Traversal
			if proto.Unmarshal(data, &wire) != nil {
				return
			}
			accepted, err = traversalFromWire(&wire, parent)
		}
		if err != nil {
			if !errors.Is(err, ErrAnswer) || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("got %q", err)
			}
			return
		}
		text, err := json.Marshal(accepted)
		if err != nil {
			t.Fatal(err)
		}
		inBounds(t, reflect.ValueOf(accepted))
		var again any
		if err := json.Unmarshal(text, &again); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	})
}

// inBounds checks every number, text and list in v against the largest limits, whatever it is for.
func inBounds(t *testing.T, v reflect.Value) {
	if n, ok := v.Interface().(plugins.Count); ok {
		x, _ := n.Get()
		v = reflect.ValueOf(x)
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			inBounds(t, v.Field(i))
		}
	case reflect.Slice:
		if v.Len() > plugins.MaxLevels {
			t.Errorf("a list of %d", v.Len())
		}
		for i := range v.Len() {
			inBounds(t, v.Index(i))
		}
	case reflect.String:
		if v.Len() > plugins.MaxText || !utf8.ValidString(v.String()) || strings.ContainsFunc(v.String(), unicode.IsControl) {
			t.Errorf("the text %.100q", v.String())
		}
	case reflect.Int, reflect.Int64:
		if v.Int() < 0 || v.Int() > plugins.MaxNumber {
			t.Errorf("the number %d", v.Int())
		}
	}
}
