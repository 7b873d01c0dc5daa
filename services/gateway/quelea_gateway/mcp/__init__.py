"""Quelea as an MCP server: tools for other agents, over HTTP at /mcp of the gateway, or over stdio."""
