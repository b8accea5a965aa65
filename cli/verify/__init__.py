"""The first hour on an account: steps from free to cheap, each with what it proves, compared with what is assumed."""
