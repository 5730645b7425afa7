// Loaded into n8n by Node's --require. The channel to the parent closes however the parent ends,
// a kill included, when no handler of the parent can run any more. n8n leads a process group of
// its own, so this ends the process in which it runs code as well.
process.once('disconnect', () => {
	process.kill(-process.pid, 'SIGKILL');
});
process.channel?.unref();

export {};
