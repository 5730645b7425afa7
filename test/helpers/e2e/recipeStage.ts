import { randomUUID } from 'node:crypto';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { recipeOf } from '../../../examples/source';
import { render, type Language, type PlacedNode } from '../../../examples/source/workflow';
import type { Execution } from '../n8n/execution';
import { LOOPBACK } from '../n8n/processes';
import type { SavedCredential, SavedWorkflow } from '../n8n/rest';
import type { Sandbox } from '../../sandbox';
import { postJson } from '../http';
import { until } from '../until';
import { addressOf, chainOf, webStart } from './workflows';
import { enterSharedN8n, type Guest } from './sharedN8n';
import { REPLACED, Services, writeInChat } from './services';

const RECORDER_TYPE = 'CUSTOM.recorder';

/**
 * What a test changes in a node that a person would not change, mostly times. The `type` has no package name, and
 * the parameters are added to those of the node.
 */
export type Change = (node: PlacedNode) => Partial<PlacedNode> | undefined;

const shortOf = (type: string): string => type.replace(/^.*\./, '');

/** A real n8n, with stand-ins for the platforms that recipes use. */
export class RecipeStage {
	private constructor(
		readonly stage: Guest,
		readonly services: Services,
		private readonly credentials: Map<string, SavedCredential>,
	) {}

	static async open(): Promise<RecipeStage> {
		const services = await Services.open();
		const stage = await enterSharedN8n({ requestsPerMinute: null });
		const credentials = new Map([['digitalSalesApi', stage.credential]]);
		const recipes = new RecipeStage(stage, services, credentials);
		const { port } = services.mail;
		const smtp = { host: LOOPBACK, port, secure: false, disableStartTls: true };
		await recipes.addCredential('smtp', smtp);
		const header = { name: 'Authorization', value: 'Bearer test-key-of-another' };
		await recipes.addCredential('httpHeaderAuth', header);
		await recipes.addCredential('facebookGraphApi', { accessToken: 'test-token-of-meta' });
		return recipes;
	}

	/** From now on, nodes of this type get this credential. */
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

	/** Sets up everything that the recipe leaves open, and activates all nodes but the templates of WhatsApp. */
	async import(
		recipe: string,
		language: Language = 'en',
		change: Change = () => undefined,
	): Promise<ImportedRecipe> {
		const file = render(recipeOf(recipe), recipe, language);
		const nodes = file.nodes.map((node) => {
			const { parameters, ...more } = change({ ...node, type: shortOf(node.type) }) ?? {};
			return {
				...this.filledIn({ ...node, ...more, parameters: { ...node.parameters, ...parameters } }),
				...atItsOwnAddress(node),
				...('waitBetweenTries' in node ? { waitBetweenTries: 1 } : {}),
				disabled: node.disabled && isTemplate(node),
			};
		});
		return new ImportedRecipe(this, await this.stage.rest.createWorkflow({ ...file, nodes }));
	}

	/** Sets up the nodes that charge and wait, and no other. */
	async importToTry(recipe: string): Promise<ImportedRecipe> {
		const file = render(recipeOf(recipe), recipe, 'en');
		const nodes = file.nodes.map((node) => ({
			...(['formTrigger', 'digitalSales'].includes(shortOf(node.type))
				? this.filledIn(node)
				: node),
			...atItsOwnAddress(node),
		}));
		return new ImportedRecipe(this, await this.stage.rest.createWorkflow({ ...file, nodes }));
	}

	/** Makes a workflow fail that has the recipe as its error workflow. */
	async fail({ workflow: { id } }: ImportedRecipe): Promise<void> {
		const { rest, url, credential } = this.stage;
		const path = randomUUID();
		const parameters = { errorMessage: `Out of stock <blue> ${'<'.repeat(5000)}` };
		const failing = { name: 'Fail here', type: 'n8n-nodes-base.stopAndError', parameters };
		const chain = chainOf('A failing workflow', credential, [webStart(path), failing]);
		const settings = { ...chain.settings, errorWorkflow: id };
		await rest.publish(await rest.createWorkflow({ ...chain, settings }));
		await postJson(`${url}/webhook/${path}`, {});
	}

	private filledIn(node: PlacedNode): object {
		const type = shortOf(node.type);
		const { parameters } = node;
		if (REPLACED.includes(type)) {
			const stand = { address: this.services.recorder, type, original: parameters };
			return { ...node, type: RECORDER_TYPE, typeVersion: 1, parameters: stand };
		}
		const name = String(parameters.nodeCredentialType ?? CREDENTIAL_OF[type] ?? '');
		const credentials = { [name]: this.credentials.get(name) };
		return { ...node, parameters: this.chosen(parameters), credentials };
	}

	/** Chooses the offer and the product, and replaces every host on the internet. */
	private chosen(parameters: IDataObject): INodeParameters {
		const [product] = this.sandbox.products;
		const choice = (value = ''): string => JSON.stringify({ __rl: true, mode: 'hash', value });
		const open = String.raw`\{"__rl":true,"mode":"list",[^}]*\}`;
		const text = JSON.stringify(parameters)
			.replace(new RegExp(`(?<="offerHash":)${open}`), choice(product?.offers[0]?.hash))
			.replace(new RegExp(`(?<="product":)${open}`), choice(product?.hash))
			.replace(/(?<="minimumAmount":)"[^"]*"/, '"19,90"')
			.replace(/(?<="(from|to)Email":)""/g, '"Shop <shop@example.test>"')
			// Otherwise two workflows would share an address.
			.replace(/(?<="path":"(order|pedido)-)[^"]*"/, `${randomUUID()}"`)
			.replace(/(?<="url":"=?)https:\/\/([^/"]+)/, (_url, host: string) =>
				this.services.inPlaceOf(host),
			);
		return JSON.parse(text) as INodeParameters;
	}
}

/** The editor does the same at an import. Otherwise two workflows would share an address. */
const atItsOwnAddress = (node: PlacedNode): object =>
	'webhookId' in node ? { webhookId: randomUUID() } : {};

/** Otherwise a customer would get each message twice. */
const isTemplate = ({ name }: PlacedNode): boolean =>
	name.endsWith(' (template)') || name.endsWith(' (modelo)');

/** By node type. */
const CREDENTIAL_OF: Record<string, string> = {
	digitalSales: 'digitalSalesApi',
	digitalSalesTrigger: 'digitalSalesApi',
	digitalSalesTool: 'digitalSalesApi',
	emailSend: 'smtp',
	emailSendHitlTool: 'smtp',
	lmChatOpenAi: 'openAiApi',
	httpRequest: 'httpHeaderAuth',
};

export class ImportedRecipe {
	private formFolder = 'form';
	private lastPage?: URL;

	constructor(
		private readonly recipes: RecipeStage,
		readonly workflow: SavedWorkflow,
	) {}

	async publish(): Promise<void> {
		await this.recipes.stage.rest.publish(this.workflow);
	}

	/** Like Execute workflow, which opens the form in the editor. */
	async executeForm(): Promise<void> {
		this.formFolder = 'form-test';
		await this.recipes.stage.rest.listen(this.workflow.id, this.formTrigger?.name ?? '');
	}

	get saleUrl(): string {
		return addressOf(this.recipes.stage, this.webhookOf('digitalSalesTrigger'));
	}

	/** Fills in the form as a customer does, and returns the next page. */
	async fillIn(values: object): Promise<string> {
		const form = new FormData();
		Object.values(values).forEach((value, index) => form.set(`field-${index}`, value));
		const answer = await this.form({ method: 'POST', body: form });
		const page = new URL((JSON.parse(answer) as { formWaitingUrl: string }).formWaitingUrl);
		const status = new URL(page);
		status.pathname += '/n8n-execution-status';
		await until('the page after the form', async () => {
			const text = await (await fetch(status)).text();
			return text === 'form-waiting' || text === 'error';
		});
		this.lastPage = page;
		const shown = await this.reload();
		// The script of the page does the same.
		await fetch(page, { method: 'POST' });
		return shown;
	}

	/** Returns the page after the form as it is now. */
	async reload(): Promise<string> {
		return await (await fetch(this.lastPage ?? '')).text();
	}

	async form(request: RequestInit = {}): Promise<string> {
		const url = `${this.recipes.stage.url}/${this.formFolder}/${this.formPath}`;
		const response = await fetch(url, request);
		if (!response.ok) throw new Error(`The form answered ${response.status}`);
		return await response.text();
	}

	/** Returns the messages that appear in the chat from now on. */
	async write(chatInput: string): Promise<string[]> {
		const chat = `/webhook/${this.webhookOf('chatTrigger')}/chat`;
		return await writeInChat(this.recipes.stage.url, chat, chatInput);
	}

	get formPath(): string {
		return String(Object(this.formTrigger?.parameters.options).path);
	}

	private get formTrigger() {
		return this.workflow.nodes.find(({ type }) => shortOf(type) === 'formTrigger');
	}

	private webhookOf(trigger: string): string {
		const node = this.workflow.nodes.find(({ type }) => shortOf(type) === trigger);
		return node?.webhookId ?? '';
	}

	/** Returns the execution even if it failed. */
	async execute(): Promise<Execution> {
		const start = this.workflow.nodes.find(({ type }) => /\.manualTrigger$/.test(type));
		return await this.recipes.stage.rest.run(this.workflow.id, start?.name ?? '');
	}

	/** Waits until the newest execution has this status, and returns its id. */
	async inState(status: string): Promise<string> {
		return await until(`${this.workflow.name} is ${status}`, async () => {
			const [newest] = await this.recipes.stage.rest.executions(this.workflow.id);
			if (newest?.status === 'error') await this.ended();
			return newest?.status === status ? newest.id : undefined;
		});
	}

	async runs(): Promise<number> {
		return (await this.recipes.stage.rest.executions(this.workflow.id)).length;
	}

	/** Waits for the `count`th execution. */
	async ended(count = 1): Promise<Execution> {
		return well(await this.over(count));
	}

	/** Like `ended`, but the execution may have failed. */
	async over(count = 1): Promise<Execution> {
		const { rest } = this.recipes.stage;
		const id = await until(`${this.workflow.name} has run ${count} times`, async () => {
			const all = await rest.executions(this.workflow.id);
			return all.length < count ? undefined : all[all.length - count]?.id;
		});
		return await rest.ended(id);
	}

	async retry({ summary }: Execution): Promise<Execution> {
		const { rest } = this.recipes.stage;
		return well(await rest.ended(await rest.retry(summary.id, false)));
	}
}

/** @throws Error if the execution failed */
export function well(execution: Execution): Execution {
	if (execution.error === undefined) return execution;
	throw new Error(`At "${execution.lastNode}": ${execution.complaint}`);
}
