import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { EXAMPLES_FOLDER, PACKAGE_NAME } from './paths';
import type { SavedCredential } from './rest';

export const CREDENTIAL_TYPE = 'digitalSalesApi';
const TRIGGER_TYPE = `${PACKAGE_NAME}.digitalSalesTrigger`;
const CHAT_MODEL_TYPE = '@n8n/n8n-nodes-langchain.lmChatOpenAi';

/** A locator as the form holds it. */
const locator = (mode: string, value: string): string =>
	JSON.stringify({ __rl: true, mode, value });

/** What a person replaces in a copied example before it can be published. */
const PLACEHOLDERS = {
	productHash: locator('list', ''),
	lowestPrice: 'put the lowest price of your product here, for example 19,90',
} as const;

const nodeSchema = z
	.object({
		name: z.string(),
		type: z.string(),
		webhookId: z.string().optional(),
		credentials: z.record(z.object({ id: z.string().nullable(), name: z.string() })).optional(),
	})
	.passthrough();
const workflowSchema = z.object({
	name: z.string(),
	nodes: z.array(nodeSchema),
	connections: z.record(z.unknown()),
	settings: z.record(z.unknown()).optional(),
});

/** A workflow of the examples folder. */
export class Example {
	private constructor(
		readonly file: string,
		readonly workflow: z.infer<typeof workflowSchema>,
	) {}

	/** All of them, by name. */
	static async all(): Promise<Example[]> {
		const files = (await readdir(EXAMPLES_FOLDER)).filter((name) => name.endsWith('.json')).sort();
		return await Promise.all(
			files.map(async (file) => {
				const text = await readFile(path.join(EXAMPLES_FOLDER, file), 'utf8');
				return new Example(file, workflowSchema.parse(JSON.parse(text)));
			}),
		);
	}

	/** Whether it listens for notifications, and so has to be published. */
	get hasTrigger(): boolean {
		return this.workflow.nodes.some(({ type }) => type === TRIGGER_TYPE);
	}

	/** The same with its placeholders filled in, as a person does before publishing it. */
	filledIn(product: Record<keyof typeof PLACEHOLDERS, string>): Example {
		const text = JSON.stringify(this.workflow)
			.replaceAll(PLACEHOLDERS.productHash, locator('hash', product.productHash))
			.replaceAll(PLACEHOLDERS.lowestPrice, product.lowestPrice);
		return new Example(this.file, workflowSchema.parse(JSON.parse(text)));
	}

	/** The workflow with its credential chosen, as a person does after importing the file. */
	withCredential(credential: { id: string; name: string }): z.infer<typeof workflowSchema> {
		const nodes = this.workflow.nodes.map((node) =>
			node.credentials?.[CREDENTIAL_TYPE] === undefined
				? node
				: {
						...node,
						credentials: {
							...node.credentials,
							[CREDENTIAL_TYPE]: { id: credential.id, name: credential.name },
						},
					},
		);
		return { ...this.workflow, nodes };
	}

	/** The same with a chat model, which only the agent needs and which a person brings along. */
	complete(credential: SavedCredential, chatModel: SavedCredential) {
		const workflow = this.withCredential(credential);
		const credentials = { [chatModel.type]: { id: chatModel.id, name: chatModel.name } };
		const nodes = workflow.nodes.map((node) =>
			node.type === CHAT_MODEL_TYPE ? { ...node, credentials } : node,
		);
		return { ...workflow, nodes };
	}
}
