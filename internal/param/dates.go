package param

import (
	"time"

	"daybook/calendar"
)

const day calendar.Wall = 24 * 60 * 60

// StartOfWindow returns the declared default of start_date on the day that a clock in the
// site zone shows, 23:59:00.
func StartOfWindow(now time.Time, site *time.Location) calendar.Wall {
	return calendar.WallOf(now.In(site)).Midnight() + day - 60
}

// EndOfWindow returns the declared default of end_date: 23:59:59, two years later; 29 February
// goes to the 28th.
func EndOfWindow(now time.Time, site *time.Location) calendar.Wall {
	year, month, days := now.In(site).Date()
	if month == time.February {
		days = min(days, 28)
	}
	return calendar.Wall(time.Date(year+2, month, days, 23, 59, 59, 0, time.UTC).Unix())
}

// Days are the words of when (listings, section 2).
var Days = []string{"today", "tomorrow", "this_weekend", "next_weekend", "this_week", "next_7_days", "this_month", "next_month"}

// DaysOf returns 00:00:00 of the first and the last day of a word of Days, on the day that
// a clock in the site zone shows.
func DaysOf(word string, now time.Time, site *time.Location, sunday bool) (first, last calendar.Wall) {
	today := calendar.WallOf(now.In(site)).Midnight()
	date := today.UTC()
	month := func(count int) calendar.Wall {
		return calendar.Wall(date.AddDate(0, count, 1-date.Day()).Unix())
	}
	passed := calendar.Wall(date.Weekday()+6) % 7 // since Monday
	end := today + (6-passed)*day
	if sunday {
		passed = calendar.Wall(date.Weekday())
	}
	switch word {
	case "tomorrow":
		return today + day, today + day
	case "this_weekend":
		return max(end-day, today), end
	case "next_weekend":
		return end + 6*day, end + 7*day
	case "this_week":
		return today - passed*day, today + (6-passed)*day
	case "next_7_days":
		return today, today + 6*day
	case "this_month":
		return month(0), month(1) - day
	case "next_month":
		return month(1), month(2) - day
	default:
		return today, today
	}
}
