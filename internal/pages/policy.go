package pages

import (
	"net/url"
	"slices"
	"strings"
)

// policies are the values of Content-Security-Policy (PAGES.md P6.3, P6.4).
type policies struct{ page, embed, desk string }

// logoPolicy is that of the logo: a script in it does not run.
const logoPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'"

func newPolicies(options *Options) policies {
	images := append([]string{"'self'", "data:"}, options.Images...)
	with := func(images []string, forms, ancestors string) string {
		return "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src " + strings.Join(slices.Compact(images), " ") +
			"; connect-src 'self'; form-action " + forms + "; base-uri 'none'; frame-ancestors " + ancestors
	}
	ancestors := "*"
	if len(options.Embed) > 0 {
		ancestors = strings.Join(options.Embed, " ")
	}
	withTiles := slices.Concat(images, options.tileOrigins())
	return policies{
		page: with(withTiles, "'self'", "'none'"), embed: with(withTiles, "'self'", ancestors),
		desk: with(images, "'none'", "'none'; require-trusted-types-for 'script'; trusted-types desk"),
	}
}

// tileOrigins are where map tiles come from.
func (options *Options) tileOrigins() (names []string) {
	hosts := options.TileHosts
	if !strings.Contains(options.Tiles, "{s}") {
		hosts = []string{""}
	}
	for _, text := range hosts {
		if address, err := url.Parse(strings.ReplaceAll(options.Tiles, "{s}", text)); err == nil && address.Host != "" {
			names = append(names, address.Scheme+"://"+address.Host)
		}
	}
	return names
}

// Policy is the Content-Security-Policy of what a path leads to.
func (pages *Pages) Policy(route Route) string {
	switch {
	case strings.HasPrefix(route.proper, "/assets/"+logoName+"."):
		return logoPolicy
	case route.Desk:
		return pages.policies.desk
	case route.name == pageEmbed:
		return pages.policies.embed
	}
	return pages.policies.page
}
