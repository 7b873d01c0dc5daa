"""Is the local evidence good enough, or should the web be searched?"""
