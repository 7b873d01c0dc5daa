"""An OpenID provider, sessions of the page, limits that gateways share."""
