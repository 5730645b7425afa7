/**
 * Whether executions that start on a worker of this n8n know nothing of what the workflow keeps: from
 * 2.40 on n8n leaves the static data out of what it hands to a worker.
 */
export function keepsStaticDataFromWorkers(n8n: string): boolean {
	const [major = 0, minor = 0] = n8n.split('.').map(Number);
	return major > 2 || (major === 2 && minor >= 40);
}
