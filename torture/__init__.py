"""Kills, full disks, read-only places and races, a thousand of them, against ledgers, releases and durable streams.

`make torture` runs it. After every fault it is checked that nothing which was acknowledged is lost, nothing is counted
or debited twice, no debit has two noises, no raw id or count is left on disk, and everything opens again. It is a tool
of development: no part of the library, and not in the wheel.
"""
