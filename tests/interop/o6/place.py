"""The namespace of the peer's nodes; o6 takes a namespace only from a module."""

import o6


def declare(uri):
    """Makes this module the one of the namespace; gives its index in the library."""
    o6.ns.namespace("peer", uri=uri)
    return o6.ns.peer.index
