"""Below the routes: connections, the layers in front of every request, bodies, streams, errors."""
