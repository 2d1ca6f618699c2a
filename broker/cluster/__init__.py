"""More than one database: a front that sends each call to the shard that has the setup."""
