package memindex

import (
	"math"
	"slices"

	"daybook/query/readmodel"
)

// places finds points by distance: the points lie in cells of one degree, and
// those of the cells that a circle may touch are measured.
type places struct {
	in       bitset
	lat, lng []float64 // by ordinal
	cells    map[cell][]uint32
}

type cell struct{ row, col int16 }

func cellOf(lat, lng float64) cell {
	return cell{int16(math.Floor(lat)), int16(math.Floor(lng))}
}

func (p *places) add(o uint32, lat, lng float64) {
	if n := int(o) + 1 - len(p.lat); n > 0 {
		p.lat = append(p.lat, make([]float64, n)...)
		p.lng = append(p.lng, make([]float64, n)...)
	}
	p.lat[o], p.lng[o] = lat, lng
	p.in = p.in.set(o)
	if p.cells == nil {
		p.cells = map[cell][]uint32{}
	}
	c := cellOf(lat, lng)
	p.cells[c] = append(p.cells[c], o)
}

func (p *places) remove(o uint32) {
	c := cellOf(p.lat[o], p.lng[o])
	list := p.cells[c]
	i := slices.Index(list, o)
	list[i] = list[len(list)-1]
	if list = list[:len(list)-1]; len(list) == 0 {
		delete(p.cells, c)
	} else {
		p.cells[c] = list
	}
	p.in.clear(o)
}

// nearInto adds the points at most km from a place to dst, which is empty.
func (p *places) nearInto(dst bitset, lat, lng, km float64) {
	measure := func(ords []uint32) {
		for _, o := range ords {
			if readmodel.Distance(lat, lng, p.lat[o], p.lng[o]) <= km {
				dst.put(o)
			}
		}
	}
	const slack = 1e-6 // degrees; more than what rounding can lose
	d := km/readmodel.EarthRadius + slack
	deg := d * 180 / math.Pi
	low, high := math.Floor(lat-deg), math.Floor(lat+deg)
	width := 180.0
	if lat+deg < 90 && lat-deg > -90 {
		width = math.Asin(min(1, math.Sin(min(d, math.Pi/2))/math.Cos(lat*math.Pi/180)))*180/math.Pi + slack
	}
	left, right := math.Floor(lng-width), math.Floor(lng+width)
	if (high-low+1)*(right-left+1) > float64(len(p.cells)) {
		for _, ords := range p.cells {
			measure(ords)
		}
		return
	}
	for row := low; row <= high; row++ {
		for col := left; col <= right; col++ {
			measure(p.cells[cell{int16(row), int16(around(col))}])
		}
		if left <= -180 || right >= 180 {
			// A longitude of exactly 180 lies in a cell of its own.
			measure(p.cells[cell{int16(row), 180}])
		}
	}
}

// around brings the column of a cell into -180 … 179.
func around(col float64) float64 {
	if col < -180 {
		return col + 360
	}
	if col >= 180 {
		return col - 360
	}
	return col
}
