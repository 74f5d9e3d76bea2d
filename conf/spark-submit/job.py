"""What spark-submit runs: the command line of duestream, from the wheel given with --py-files."""

from pipeline.cli.main import main

main()
