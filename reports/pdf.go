package reports

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"time"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// gonum/plot's own PDF canvas writes texts in code page 1252, which has no superscripts beyond ³ and none of the names
// that engines may have. This canvas embeds the glyphs that are used of DejaVu Sans, so that texts stay texts, and leaves
// out the time of drawing, so that the same figure gives the same bytes.

// pdfCanvas is a vg.Canvas that draws on one PDF page. The origin is the lower left corner, as vg has it; fpdf counts
// from the upper one, so the page is turned over once, and every text turned back. Errors stay in doc until it is written.
type pdfCanvas struct {
	doc    *fpdf.Fpdf
	width  vg.Length   // of lines
	widths []vg.Length // pushed
}

const pdfFont = "DejaVuSans"

func newPDF(title string, width, height vg.Length) *pdfCanvas {
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: width.Points(), Ht: height.Points()}})
	doc.SetCatalogSort(true)
	doc.SetCreationDate(time.Unix(0, 0).UTC())
	doc.SetModificationDate(time.Unix(0, 0).UTC())
	doc.SetTitle(title, true)
	doc.SetProducer("teps", true)
	doc.SetMargins(0, 0, 0)
	doc.SetAutoPageBreak(false, 0)
	doc.AddUTF8FontFromBytes(pdfFont, "", dejavusans.TTF)
	doc.AddPage()
	doc.TransformBegin()
	doc.TransformTranslate(0, height.Points())
	doc.TransformScale(100, -100, 0, 0)
	c := &pdfCanvas{doc: doc}
	vg.Initialize(c)
	return c
}

// bytes ends the page and returns the document.
func (c *pdfCanvas) bytes() ([]byte, error) {
	c.doc.TransformEnd()
	var b bytes.Buffer
	err := c.doc.Output(&b)
	return b.Bytes(), err
}

func (c *pdfCanvas) SetLineWidth(w vg.Length) {
	c.width = w
	c.doc.SetLineWidth(w.Points())
}

func (c *pdfCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	points := make([]float64, len(pattern))
	for i, d := range pattern {
		points[i] = d.Points()
	}
	c.doc.SetDashPattern(points, offset.Points())
}

func (c *pdfCanvas) SetColor(col color.Color) {
	if col == nil {
		col = color.Black
	}
	n := color.NRGBAModel.Convert(col).(color.NRGBA)
	c.doc.SetFillColor(int(n.R), int(n.G), int(n.B))
	c.doc.SetDrawColor(int(n.R), int(n.G), int(n.B))
	c.doc.SetTextColor(int(n.R), int(n.G), int(n.B))
	c.doc.SetAlpha(float64(n.A)/255, "Normal")
}

func (c *pdfCanvas) Rotate(radians float64)     { c.doc.TransformRotate(-radians*180/math.Pi, 0, 0) }
func (c *pdfCanvas) Translate(p vg.Point)       { c.doc.TransformTranslate(p.X.Points(), p.Y.Points()) }
func (c *pdfCanvas) Scale(x float64, y float64) { c.doc.TransformScale(100*x, 100*y, 0, 0) }

func (c *pdfCanvas) Push() {
	c.widths = append(c.widths, c.width)
	c.doc.TransformBegin()
}

func (c *pdfCanvas) Pop() {
	c.doc.TransformEnd()
	c.width = c.widths[len(c.widths)-1]
	c.widths = c.widths[:len(c.widths)-1]
}

func (c *pdfCanvas) Stroke(path vg.Path) {
	if c.width > 0 {
		c.path(path)
		c.doc.DrawPath("D")
	}
}

func (c *pdfCanvas) Fill(path vg.Path) {
	c.path(path)
	c.doc.DrawPath("F")
}

func (c *pdfCanvas) path(path vg.Path) {
	for _, part := range path {
		x, y := part.Pos.X.Points(), part.Pos.Y.Points()
		switch part.Type {
		case vg.MoveComp:
			c.doc.MoveTo(x, y)
		case vg.LineComp:
			c.doc.LineTo(x, y)
		case vg.ArcComp:
			c.arc(x, y, part.Radius.Points(), part.Start, part.Angle)
		case vg.CurveComp:
			control := part.Control
			first, last := control[0], control[len(control)-1]
			c.doc.CurveBezierCubicTo(first.X.Points(), first.Y.Points(), last.X.Points(), last.Y.Points(), x, y)
		case vg.CloseComp:
			c.doc.ClosePath()
		}
	}
}

// arc goes along a circle around (x, y) in pieces of at most a quarter, each a cubic curve: control points at 4/3
// tan(angle/4) of the radius along the tangents keep it within 0.03 % of the circle.
func (c *pdfCanvas) arc(x, y, radius, start, angle float64) {
	pieces := max(1, int(math.Ceil(math.Abs(angle)/(math.Pi/2)-1e-9)))
	step := angle / float64(pieces)
	k := 4.0 / 3 * math.Tan(step/4) * radius
	c.doc.LineTo(x+radius*math.Cos(start), y+radius*math.Sin(start))
	for i := range pieces {
		a, b := start+float64(i)*step, start+float64(i+1)*step
		ax, ay, bx, by := x+radius*math.Cos(a), y+radius*math.Sin(a), x+radius*math.Cos(b), y+radius*math.Sin(b)
		c.doc.CurveBezierCubicTo(ax-k*math.Sin(a), ay+k*math.Cos(a), bx+k*math.Sin(b), by-k*math.Cos(b), bx, by)
	}
}

func (c *pdfCanvas) FillString(face font.Face, at vg.Point, text string) {
	if face.Font.Size == 0 {
		return
	}
	c.doc.SetFont(pdfFont, "", face.Font.Size.Points())
	c.doc.TransformBegin()
	c.Translate(at)
	c.Scale(1, -1)
	c.doc.Text(0, 0, text)
	c.doc.TransformEnd()
}

// DrawImage is here for the interface: no figure has an image.
func (c *pdfCanvas) DrawImage(rect vg.Rectangle, img image.Image) {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		c.doc.SetError(err)
		return
	}
	options := fpdf.ImageOptions{ImageType: "png"}
	name := fmt.Sprintf("image %v", rect)
	c.doc.RegisterImageOptionsReader(name, options, &b)
	c.doc.TransformBegin()
	c.Translate(vg.Point{X: rect.Min.X, Y: rect.Max.Y})
	c.Scale(1, -1)
	c.doc.ImageOptions(name, 0, 0, rect.Size().X.Points(), rect.Size().Y.Points(), false, options, 0, "")
	c.doc.TransformEnd()
}

// pdf draws f as a PDF document of one page, the size of the figure.
func (f *figure) pdf() ([]byte, error) {
	width, height := f.size()
	canvas := newPDF(f.title, width, height)
	f.draw(canvas)
	out, err := canvas.bytes()
	if err != nil {
		return nil, fmt.Errorf("reports: draw %s.pdf: %w", f.name, err)
	}
	return out, nil
}
