import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { recipeOf } from '../../../../examples/source';
import { render, type Language, type PlacedNode } from '../../../../examples/source/workflow';
import type { Execution } from '../../n8n/execution';
import { LOOPBACK } from '../../n8n/processes';
import type { SavedCredential, SavedWorkflow } from '../../n8n/rest';
import type { Sandbox } from '../../../sandbox';
import { chainOf, webStart } from './workflows';
import { Guest } from './sharedN8n';
import { Services, writeInChat } from './services';

const RECORDER_TYPE = 'CUSTOM.recorder';
/** Nodes whose service cannot be put elsewhere. */
const REPLACED = ['googleSheets', 'whatsApp', 'telegram', 'hubspot'];
const HAPPENS_WITHIN_MS = 30_000;
const POLL_MS = 100;

/** What a test changes in the parameters of a node, beside what a person fills in: above all, times. */
export type Change = (node: {
	type: string;
	name: string;
	parameters: IDataObject;
}) => IDataObject | undefined;

/** Which nodes a test activates and deactivates. */
export type Turn = (node: PlacedNode) => PlacedNode;

/** A real n8n in which recipes run, with stand-ins for the services that they talk to. */
export class RecipeStage {
	private constructor(
		readonly stage: Guest,
		readonly services: Services,
		private readonly credentials: Map<string, SavedCredential>,
	) {}

	static async open(): Promise<RecipeStage> {
		const services = await Services.open();
		const stage = await Guest.enter({ requestsPerMinute: null });
		const credentials = new Map([['digitalSalesApi', stage.credential]]);
		const recipes = new RecipeStage(stage, services, credentials);
		await recipes.addCredential('smtp', {
			host: LOOPBACK,
			port: services.mail.port,
			secure: false,
			disableStartTls: true,
		});
		await recipes.addCredential('httpHeaderAuth', {
			name: 'Authorization',
			value: 'Bearer test-key-of-another',
		});
		await recipes.addCredential('facebookGraphApi', { accessToken: 'test-token-of-meta' });
		return recipes;
	}

	/** Saves the credential that nodes of its type are given from now on. */
	async addCredential(type: string, data: Record<string, unknown>): Promise<void> {
		this.credentials.set(type, await this.stage.rest.createCredential(type, type, data));
	}

	get sandbox(): Sandbox {
		return this.stage.sandbox;
	}

	clear(): void {
		this.stage.sandbox.clearFaults();
		this.services.clear();
	}

	async close(): Promise<void> {
		await this.stage.close();
		await this.services.close();
	}

	/** Imports a recipe with everything chosen and filled in that it leaves open. */
	async import(
		recipe: string,
		language: Language,
		change: Change = () => undefined,
		turn: Turn = (node) => node,
	): Promise<ImportedRecipe> {
		const file = render(recipeOf(recipe), recipe, language);
		const nodes = file.nodes.map((node) => ({
			...this.filledIn(turn(node), change),
			// As the editor does at an import, so that no two workflows share an address.
			...('webhookId' in node ? { webhookId: randomUUID() } : {}),
			...('waitBetweenTries' in node ? { waitBetweenTries: 1 } : {}),
		}));
		return new ImportedRecipe(this, await this.stage.rest.createWorkflow({ ...file, nodes }));
	}

	/** A published workflow that fails, with a recipe as its error workflow; gives what starts it. */
	async failing({ workflow: { id } }: ImportedRecipe): Promise<() => Promise<void>> {
		const path = randomUUID();
		const chain = chainOf('A failing workflow', this.stage.credential, [
			webStart(path),
			{
				name: 'Fail here',
				type: 'n8n-nodes-base.stopAndError',
				parameters: { errorMessage: `Out of stock <blue> ${'<'.repeat(5000)}` },
			},
		]);
		const settings = { ...chain.settings, errorWorkflow: id };
		const workflow = await this.stage.rest.createWorkflow({ ...chain, settings });
		await this.stage.rest.publish(workflow);
		return async () => {
			await fetch(`${this.stage.url}/webhook/${path}`, { method: 'POST' });
		};
	}

	private filledIn(node: PlacedNode, change: Change): object {
		const type = node.type.replace(/^.*\./, '');
		const parameters = { ...node.parameters, ...change({ ...node, type }) };
		if (REPLACED.includes(type)) {
			const stand = { address: this.services.recorder, type, original: parameters };
			return { ...node, type: RECORDER_TYPE, typeVersion: 1, parameters: stand };
		}
		return {
			...node,
			parameters: this.chosen(parameters),
			credentials: this.credentialFor(type, parameters),
		};
	}

	private credentialFor(
		type: string,
		{ nodeCredentialType }: IDataObject,
	): Record<string, SavedCredential | undefined> {
		const name = typeof nodeCredentialType === 'string' ? nodeCredentialType : CREDENTIAL_OF[type];
		return name === undefined ? {} : { [name]: this.credentials.get(name) };
	}

	/** The offer and the product chosen, and every host on the internet replaced. */
	private chosen(parameters: IDataObject): INodeParameters {
		const [product] = this.sandbox.products;
		const choice = (value: string): string => JSON.stringify({ __rl: true, mode: 'hash', value });
		const open = JSON.stringify({ __rl: true, mode: 'list', value: '' });
		const text = JSON.stringify(parameters)
			.replaceAll(`"offerHash":${open}`, `"offerHash":${choice(product?.offers[0]?.hash ?? '')}`)
			.replace(
				/"(product|productHash)":\{"__rl":true,"mode":"list",[^}]*\}/g,
				(_placeholder, key: string) => `"${key}":${choice(product?.hash ?? '')}`,
			)
			.replace(/"minimumAmount":"[^"]*"/, '"minimumAmount":"19,90"')
			.replace(
				/("url":"=?)https:\/\/([^/"]+)/g,
				(_url, key: string, host: string) => `${key}${this.services.inPlaceOf(host)}`,
			);
		return JSON.parse(text) as INodeParameters;
	}
}

/** The credential of a node, by its type. */
const CREDENTIAL_OF: Record<string, string> = {
	digitalSales: 'digitalSalesApi',
	digitalSalesTrigger: 'digitalSalesApi',
	digitalSalesTool: 'digitalSalesApi',
	emailSend: 'smtp',
	emailSendHitlTool: 'smtp',
	lmChatOpenAi: 'openAiApi',
	httpRequest: 'httpHeaderAuth',
};

/** A recipe in n8n. */
export class ImportedRecipe {
	constructor(
		private readonly recipes: RecipeStage,
		readonly workflow: SavedWorkflow,
	) {}

	/** Publishes it, and gives the address of its trigger for sales if it has one. */
	async publish(): Promise<string> {
		const { rest } = this.recipes.stage;
		await rest.publish(this.workflow);
		const trigger = this.workflow.nodes.find(({ type }) => type.endsWith('.digitalSalesTrigger'));
		return `${this.recipes.stage.url}/webhook/${trigger?.webhookId ?? ''}/digital-sales`;
	}

	/** Fills in its published form, field by field, as a customer does. */
	async fillIn(values: string[]): Promise<void> {
		const form = new FormData();
		values.forEach((value, index) => form.set(`field-${index}`, value));
		await this.form({ method: 'POST', body: form });
	}

	/** Its published form as a page, what customers read at its end included; or what it answers. */
	async form(request: RequestInit = {}): Promise<string> {
		const node = this.workflow.nodes.find(({ type }) => type.endsWith('.formTrigger'));
		const url = `${this.recipes.stage.url}/form/${node?.webhookId ?? ''}`;
		const response = await fetch(url, request);
		if (!response.ok) throw new Error(`The form answered ${response.status}`);
		return await response.text();
	}

	/** Writes into its published chat as a customer does; gives what appears there from then on. */
	async write(chatInput: string): Promise<string[]> {
		const node = this.workflow.nodes.find(({ type }) => type.endsWith('.chatTrigger'));
		return await writeInChat(
			this.recipes.stage.url,
			`/webhook/${node?.webhookId ?? ''}/chat`,
			chatInput,
		);
	}

	/** Presses Execute workflow and waits for the end, good or bad. */
	async execute(): Promise<Execution> {
		const start = this.workflow.nodes.find(({ type }) => /\.(manual|schedule)Trigger$/.test(type));
		return await this.recipes.stage.rest.run(this.workflow.id, start?.name ?? '');
	}

	/** The newest execution, once it is there and in this state. */
	async inState(status: string): Promise<string> {
		return await until(`${this.workflow.name} is ${status}`, async () => {
			const [newest] = await this.recipes.stage.rest.executions(this.workflow.id);
			if (newest?.status === 'error') await this.ended();
			return newest?.status === status ? newest.id : undefined;
		});
	}

	/** How often it was started. */
	async runs(): Promise<number> {
		return (await this.recipes.stage.rest.executions(this.workflow.id)).length;
	}

	/** The `count`th execution, once it has ended well. */
	async ended(count = 1): Promise<Execution> {
		return well(await this.over(count));
	}

	/** The `count`th execution, once it has ended, good or bad. */
	async over(count = 1): Promise<Execution> {
		const { rest } = this.recipes.stage;
		const id = await until(`${this.workflow.name} has run ${count} times`, async () => {
			const all = await rest.executions(this.workflow.id);
			return all.length < count ? undefined : all[all.length - count]?.id;
		});
		return await rest.ended(id);
	}

	/** Presses Retry on an execution that failed, and waits for the end. */
	async retry({ summary }: Execution): Promise<Execution> {
		const { rest } = this.recipes.stage;
		const { id } = await rest.retry(summary.id, false);
		return well(await rest.ended(id));
	}
}

/** The same execution; throws if it did not end well. */
export function well(execution: Execution): Execution {
	if (execution.error === undefined) return execution;
	throw new Error(`At "${execution.lastNode}": ${execution.complaint}`);
}

/** Waits until there is something to see. */
export async function until<T>(what: string, look: () => Promise<T | undefined> | T | undefined) {
	const deadline = Date.now() + HAPPENS_WITHIN_MS;
	for (;;) {
		const seen = await look();
		if (seen !== undefined) return seen;
		if (Date.now() > deadline) throw new Error(`It did not happen in time: ${what}`);
		await pause(POLL_MS);
	}
}
