"""Work that goes on after its call was answered: its handles, what its API tells of it, and how it is asked."""
