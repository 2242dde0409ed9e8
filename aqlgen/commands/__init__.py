"""The commands: each parses nothing and prints nothing, it does one thing and gives what there is to say."""
