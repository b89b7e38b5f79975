package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Seals tell whether a record is as it was written. A seal is the SHA-256, in hexadecimal, of a text and of the seal
// before it; it stands in the last member of the JSON object that it seals, and the text is everything before the comma
// in front of that member:
//
//	run.json      "seal":   of the file's text alone
//	roots.jsonl   "seal":   of the seal of the line before (of run.json for the first line) and the line's text
//	result.json   "digest": of the file's text alone, in which "journal" is the seal of the last line of roots.jsonl
//
// So a line that was edited, removed, added or moved breaks the chain where it stands, and lines that were cut off the
// end are missed by result.json. Seals find accidents and edits by hand. They are no signature: who means to deceive can
// compute them anew.

const (
	sealMember   = "seal"
	digestMember = "digest"
)

// sealOf is the seal of a text that follows the seal before.
func sealOf(before string, text []byte) string {
	sum := sha256.New()
	sum.Write([]byte(before))
	sum.Write(text)
	return hex.EncodeToString(sum.Sum(nil))
}

// layout is how the last member is set off: on the one line of an entry, or on a line of its own in a file.
type layout struct{ before, colon, after string }

var (
	onLine = layout{",", ":", "}"}
	inFile = layout{",\n  ", ": ", "\n}"}
)

// end is the last member with a seal, and what closes the object.
func (l layout) end(member, seal string) string {
	return fmt.Sprintf("%s%q%s%q%s", l.before, member, l.colon, seal, l.after)
}

// seal appends a member with the seal of object, which ends like a JSON object of that layout and is overwritten.
func (l layout) seal(object []byte, member, before string) (sealed []byte, seal string, err error) {
	text, ok := bytes.CutSuffix(object, []byte(l.after))
	if !ok {
		return nil, "", fmt.Errorf("%.20q... is no JSON object to seal", object)
	}
	seal = sealOf(before, text)
	return append(text, l.end(member, seal)...), seal, nil
}

// holds says whether sealed ends in the member, and its seal is that of the text.
func (l layout) holds(sealed []byte, member, before string) bool {
	cut := len(sealed) - len(l.end(member, "")) - hex.EncodedLen(sha256.Size)
	return cut >= 0 && string(sealed[cut:]) == l.end(member, sealOf(before, sealed[:cut]))
}
