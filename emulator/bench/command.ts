/**
 * Runs the main function of a command-line program. If `main` rejects, prints the error message to standard error and
 * sets the exit code 2. Only prints `usage` if an argument is `--help`.
 */
export async function runCommand(usage: string, main: (argv: string[]) => Promise<number>): Promise<void> {
  const argv = process.argv.slice(2);
  try {
    if (argv.includes('--help')) process.stdout.write(usage);
    else process.exitCode = await main(argv);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 2;
  }
}
