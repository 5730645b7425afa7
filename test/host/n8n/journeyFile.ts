import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const FILE = path.join(__dirname, 'journey.json');
/** A list from which nothing is chosen yet. */
const PRODUCT = JSON.stringify({ __rl: true, mode: 'list', value: '' });

const workflowSchema = z.object({
	name: z.string(),
	nodes: z.array(
		z
			.object({
				name: z.string(),
				type: z.string(),
				webhookId: z.string().optional(),
				credentials: z.record(z.unknown()).optional(),
			})
			.passthrough(),
	),
	connections: z.record(z.unknown()),
	settings: z.record(z.unknown()).optional(),
});

/**
 * The workflow of the journey, from the catalog to a paid sale, with the product and the credential
 * chosen. It is no recipe, because it leaves an offer behind that nobody can remove.
 */
export async function journeyFile(
	productHash: string,
	{ id, name }: { id: string; name: string },
): Promise<z.infer<typeof workflowSchema>> {
	const chosen = JSON.stringify({ __rl: true, mode: 'hash', value: productHash });
	const text = JSON.stringify(JSON.parse(await readFile(FILE, 'utf8')));
	const workflow = workflowSchema.parse(JSON.parse(text.replaceAll(PRODUCT, chosen)));
	const nodes = workflow.nodes.map((node) =>
		node.credentials === undefined
			? node
			: { ...node, credentials: { digitalSalesApi: { id, name } } },
	);
	return { ...workflow, nodes };
}
