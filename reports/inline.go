package reports

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"

	"gonum.org/v1/plot/vg/vgsvg"
)

// vgsvg writes styles as style="…" attributes and escapes quotes in texts, so the patterns here cannot match anything
// that a name brought along.

// fallbackFonts names further typefaces behind DejaVu Sans: Verdana has the same ancestor and nearly its widths.
func fallbackFonts(svg []byte) []byte {
	return styled(svg, func(style []byte) []byte {
		return bytes.Replace(style, []byte("font-family:DejaVu Sans;"), []byte("font-family:'DejaVu Sans',Verdana,Geneva,Arial,sans-serif;"), 1)
	})
}

// styled rewrites every style attribute.
func styled(svg []byte, rewrite func(style []byte) []byte) []byte {
	return regexp.MustCompile(`style="[^"]*"`).ReplaceAllFunc(svg, rewrite)
}

// inline draws f for a page: without a background, in the page's own colours (page.css has those of both schemes), as wide as its place.
func (f *figure) inline() (template.HTML, error) {
	width, height := f.size()
	canvas := vgsvg.New(width, height)
	f.draw(canvas)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("reports: draw %s for the page: %w", f.name, err)
	}
	svg := b.Bytes()
	// The head has to go: an XML declaration has no place in a page, and the size is the page's business.
	head := bytes.Index(svg, []byte("<g "))
	if head < 0 {
		return "", fmt.Errorf("reports: draw %s for the page: the drawing has no content", f.name)
	}
	variables := map[rgb]string{ink: "var(--ink)", faint: "var(--faint)", grid: "var(--grid)", paper: "var(--paper)", outsideLevels: "var(--outside)", shareInk: "var(--on-bar)", transferGrey: "var(--faint)"}
	for i, c := range palette() {
		variables[c] = fmt.Sprintf("var(--series-%d)", i)
	}
	colour := regexp.MustCompile(`#[0-9A-F]{6}`)
	body := styled(fallbackFonts(svg[head:]), func(style []byte) []byte {
		return colour.ReplaceAllFunc(style, func(c []byte) []byte {
			for known, variable := range variables {
				if known.near(string(c)) {
					return []byte(variable)
				}
			}
			return c
		})
	})
	return template.HTML(fmt.Sprintf(`<svg role="img" aria-label="%[3]s" viewBox="0 0 %[1]g %[2]g" xmlns="http://www.w3.org/2000/svg"><title>%[3]s</title>`,
		width.Points(), height.Points(), template.HTMLEscapeString(f.title)) + string(body)), nil
}
