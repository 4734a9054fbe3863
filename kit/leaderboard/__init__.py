"""The leaderboard of the speed record: judge submissions, keep the results, show them."""
