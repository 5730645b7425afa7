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
 * What a test changes in a node, beside what a person fills in: above all, times. `type` comes without
 * its package; parameters are put in beside the others of the node.
 */
export type Change = (node: PlacedNode) => Partial<PlacedNode> | undefined;

const shortOf = (type: string): string => type.replace(/^.*\./, '');

/** A real n8n in which recipes run, with stand-ins for the services that they talk to. */
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
		language: Language = 'en',
		change: Change = () => undefined,
	): Promise<ImportedRecipe> {
		const file = render(recipeOf(recipe), recipe, language);
		const nodes = file.nodes.map((node) => {
			const { parameters, ...more } = change({ ...node, type: shortOf(node.type) }) ?? {};
			return {
				...this.filledIn({ ...node, ...more, parameters: { ...node.parameters, ...parameters } }),
				// As the editor does at an import, so that no two workflows share an address.
				...('webhookId' in node ? { webhookId: randomUUID() } : {}),
				...('waitBetweenTries' in node ? { waitBetweenTries: 1 } : {}),
			};
		});
		return new ImportedRecipe(this, await this.stage.rest.createWorkflow({ ...file, nodes }));
	}

	/** Has a published workflow fail that has a recipe as its error workflow. */
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

	/** The offer and the product chosen, and every host on the internet replaced. */
	private chosen(parameters: IDataObject): INodeParameters {
		const [product] = this.sandbox.products;
		const choice = (value = ''): string => JSON.stringify({ __rl: true, mode: 'hash', value });
		const open = String.raw`\{"__rl":true,"mode":"list",[^}]*\}`;
		const text = JSON.stringify(parameters)
			.replace(new RegExp(`(?<="offerHash":)${open}`), choice(product?.offers[0]?.hash))
			.replace(new RegExp(`(?<="product":)${open}`), choice(product?.hash))
			.replace(/(?<="minimumAmount":)"[^"]*"/, '"19,90"')
			.replace(/(?<="(from|to)Email":)""/g, '"Shop <shop@example.test>"')
			// No two workflows share an address.
			.replace(/(?<="path":"(order|pedido)-)[^"]*"/, `${randomUUID()}"`)
			.replace(/(?<="url":"=?)https:\/\/([^/"]+)/, (_url, host: string) =>
				this.services.inPlaceOf(host),
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

	async publish(): Promise<void> {
		await this.recipes.stage.rest.publish(this.workflow);
	}

	/** The address of its trigger for sales. */
	get saleUrl(): string {
		return addressOf(this.recipes.stage, this.webhookOf('digitalSalesTrigger'));
	}

	/** Fills in its published form, field by field, as a customer does, and gives the page that follows. */
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
		const shown = await (await fetch(page)).text();
		// So does the script of the page.
		await fetch(page, { method: 'POST' });
		return shown;
	}

	/** Its published form as a page; or what it answers. */
	async form(request: RequestInit = {}): Promise<string> {
		const url = `${this.recipes.stage.url}/form/${this.formPath}`;
		const response = await fetch(url, request);
		if (!response.ok) throw new Error(`The form answered ${response.status}`);
		return await response.text();
	}

	/** Writes into its published chat as a customer does; gives what appears there from then on. */
	async write(chatInput: string): Promise<string[]> {
		const chat = `/webhook/${this.webhookOf('chatTrigger')}/chat`;
		return await writeInChat(this.recipes.stage.url, chat, chatInput);
	}

	/** Where its form is. */
	get formPath(): string {
		const form = this.workflow.nodes.find(({ type }) => shortOf(type) === 'formTrigger');
		return String(Object(form?.parameters.options).path);
	}

	private webhookOf(trigger: string): string {
		const node = this.workflow.nodes.find(({ type }) => shortOf(type) === trigger);
		return node?.webhookId ?? '';
	}

	/** Presses Execute workflow and waits for the end, good or bad. */
	async execute(): Promise<Execution> {
		const start = this.workflow.nodes.find(({ type }) => /\.manualTrigger$/.test(type));
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
		return well(await rest.ended(await rest.retry(summary.id, false)));
	}
}

/** The same execution; throws if it did not end well. */
export function well(execution: Execution): Execution {
	if (execution.error === undefined) return execution;
	throw new Error(`At "${execution.lastNode}": ${execution.complaint}`);
}
