"""UCFE (2410.14059): simulated users, a judge, ratings."""
