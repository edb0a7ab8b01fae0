const { PATH, HOME, TMPDIR, SystemRoot, NODE_COMPILE_CACHE } = process.env;

/** For programs that a test starts: nothing that configures the package. */
export const bareEnvironment = { PATH, HOME, TMPDIR, SystemRoot, NODE_COMPILE_CACHE };
