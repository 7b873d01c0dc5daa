"""The services behind the gateway, over the wire, their fakes beside them."""
