// Node.js loads this file into n8n by --require. The channel to the parent closes even if the parent is killed and
// none of its handlers can run. n8n leads a process group, so its task runner ends as well.
process.once('disconnect', () => {
	process.kill(-process.pid, 'SIGKILL');
});
process.channel?.unref();

export {};
