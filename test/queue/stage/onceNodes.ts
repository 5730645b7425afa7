import { Example } from '../../n8n/examples';
import type { WorkflowFile } from '../../n8n/rest';

const TRIGGER = 'When a charge is paid';
/** The expression in the example's JSON that names the sale. */
const WHO = /(?<="=)[^"]*When a charge is paid[^"]*/;
const FIRST = 'First to report';

/**
 * A workflow with the nodes of the example put in between: what `start` does goes on to `next` only
 * for the first of all that give the same `key`, an expression.
 */
export async function onceBetween(
	{ name, nodes, connections, settings }: WorkflowFile,
	{ start, next, key }: { start: string; next: string; key: string },
): Promise<WorkflowFile> {
	const example = (await Example.all()).find(({ file }) => file === 'once-in-all-processes.json');
	if (example === undefined) throw new Error('The example is missing.');
	const { workflow } = example;
	const between = workflow.nodes.filter((node) => node.name !== TRIGGER);
	const { [TRIGGER]: entry, ...others } = workflow.connections;
	const asked: unknown = JSON.parse(
		JSON.stringify(between).replace(WHO, () => JSON.stringify(key).slice(1, -1)),
	);
	return {
		name,
		settings,
		nodes: [...nodes, ...(Array.isArray(asked) ? asked : [])],
		connections: {
			...connections,
			...others,
			[start]: entry,
			[FIRST]: { main: [[{ node: next, type: 'main', index: 0 }]] },
		},
	};
}
