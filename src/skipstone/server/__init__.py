"""The actions behind a REST API, as background jobs, and the page that shows them."""
