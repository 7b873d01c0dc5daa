"""A bundle of made-up market data in the shape of the real upstreams: for tests and for trying out, with no internet.

Every price, rate and volume is made up by the code beside this file, from a fixed seed; no payload of a vendor was
copied, and nothing here says what a market really did. Public facts are the names and codes of securities, and the
yearly revenues in the SEC's sample. Use the data as you like (CC0).
"""
