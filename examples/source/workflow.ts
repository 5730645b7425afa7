import { createHash } from 'node:crypto';
import type { INodeParameters } from 'n8n-workflow';

/** A recipe exists once in each. */
export const LANGUAGES = ['en', 'pt-BR'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Chooses between the two texts of a recipe; node names and the fields of a recipe are texts, too. */
export type Say = (english: string, portuguese: string) => string;

export const sayIn =
	(language: Language): Say =>
	(english, portuguese) =>
		language === 'en' ? english : portuguese;

export interface Node {
	name: string;
	type: string;
	typeVersion: number;
	parameters: INodeParameters;
	/** Settings that n8n stores outside the parameters. */
	more?: {
		onError?: 'continueErrorOutput' | 'continueRegularOutput';
		alwaysOutputData?: true;
		retryOnFail?: true;
		maxTries?: number;
		waitBetweenTries?: number;
		executeOnce?: true;
		disabled?: true;
	};
	/** Whether the node has an address of its own, as triggers do. */
	listens?: true;
}

/** A later output of a node: 1 is the second. */
export interface Output {
	node: Node;
	output: number;
}

export interface Workflow {
	name: string;
	/** Markdown, one sticky note each, above the nodes: what it does, what to choose first, then the rest. */
	notes: [what: string, steps: string, ...more: string[]];
	/** Nodes that follow each other. A chain that begins with a node of an earlier chain branches off there. */
	chains: Array<[Node | Output, ...Node[]]>;
	/** Nodes that serve another one, by the kind of the connection: a model, a memory, tools. */
	attached?: Array<{ kind: string; nodes: Node[]; to: Node }>;
}

/** Writes a workflow in one language. */
export type Recipe = (say: Say) => Workflow;

/** Reads a node's item by the node's name, because a sender in between has replaced it. */
export function from(node: Node): string {
	return `$('${node.name}').item.json`;
}

/** The branch of an If that is false, the error output, or any other output after the first. */
export function output(node: Node, output: number): Output {
	return { node, output };
}

/** The same node, deactivated: its items pass through until a person activates it. */
export function off(node: Node): Node {
	return { ...node, more: { ...node.more, disabled: true } };
}

const COLUMN = 220;
const ROW = 200;
const NOTE_WIDTH = 420;
const NOTE_GAP = 20;
const LINE_HEIGHT = 22;
const LETTERS_A_LINE = 50;

interface Placed {
	node: Node;
	position: [number, number];
}

type Connections = Record<string, Record<string, Array<Array<INodeParameters>>>>;

/** A node as n8n imports it; sticky notes are nodes as well. */
export interface PlacedNode extends Omit<Node, 'more' | 'listens'> {
	id: string;
	position: [x: number, y: number];
	webhookId?: string;
	disabled?: boolean;
}

/** A workflow as n8n imports it. */
export interface WorkflowFile {
	name: string;
	nodes: PlacedNode[];
	connections: Connections;
	settings: { executionOrder: 'v1'; timezone: string };
}

/** The workflow as n8n imports it; `file` makes its ids the same each time. */
export function render(recipe: Recipe, file: string, language: Language): WorkflowFile {
	const {
		name,
		notes,
		chains,
		attached = [],
	} = recipe((english, portuguese) => (language === 'en' ? english : portuguese));
	const id = (of: string): string => uuid(`${language}/${file}/${of}`);
	const connections: Connections = {};
	const connect = (source: Node, kind: string, at: number, target: Node): void => {
		const outputs = ((connections[source.name] ??= {})[kind] ??= []);
		while (outputs.length <= at) outputs.push([]);
		outputs[at]?.push({ node: target.name, type: kind, index: 0 });
	};
	for (const [first, ...rest] of chains) {
		let before = 'node' in first ? first : output(first, 0);
		for (const node of rest) {
			connect(before.node, 'main', before.output, node);
			before = output(node, 0);
		}
	}
	for (const { kind, nodes, to } of attached) {
		for (const node of nodes) connect(node, kind, 0, to);
	}
	const placed = place(chains, attached);
	return {
		name,
		nodes: [
			...placeNotes(notes, id),
			...placed.map(({ node: { more, listens, ...node }, position }) => ({
				id: id(`node ${placed.findIndex((one) => one.node.name === node.name)}`),
				...node,
				position,
				...(listens ? { webhookId: id(`webhook of ${node.type}`) } : {}),
				...more,
			})),
		],
		connections,
		// n8n's default is New York time.
		settings: { executionOrder: 'v1', timezone: 'America/Sao_Paulo' },
	};
}

/** Side by side above the nodes, the steps first, each as tall as its text. */
function placeNotes(
	[what, steps, ...more]: Workflow['notes'],
	id: (of: string) => string,
): PlacedNode[] {
	return [steps, what, ...more].map((content, index) => {
		const height = 80 + linesOf(content) * LINE_HEIGHT;
		return {
			id: id(`note ${index}`),
			name: `Note ${index + 1}`,
			type: 'n8n-nodes-base.stickyNote',
			typeVersion: 1,
			position: [index * (NOTE_WIDTH + NOTE_GAP) - 40, -height - 60],
			parameters: { content, width: NOTE_WIDTH, height, color: index === 0 ? 5 : 4 },
		};
	});
}

function linesOf(content: string): number {
	return content
		.split('\n')
		.reduce((sum, line) => sum + Math.ceil(line.length / LETTERS_A_LINE), 0);
}

/** The first chain on the first row, each other one below, where it branches off; then what is attached. */
function place(chains: Workflow['chains'], attached: NonNullable<Workflow['attached']>): Placed[] {
	const placed = new Map<Node, [column: number, row: number]>();
	chains.forEach((chain, row) => {
		let column = 0;
		for (const step of chain) {
			const node = 'node' in step ? step.node : step;
			const [at] = placed.get(node) ?? [];
			if (at === undefined) placed.set(node, [column, row]);
			// A node with attached nodes is twice as wide.
			column = (at ?? column) + (attached.some(({ to }) => to === node) ? 2 : 1);
		}
	});
	let next = 0;
	for (const { nodes, to } of attached) {
		const [column = 0, row = 0] = placed.get(to) ?? [];
		// Nodes attached to an attached node go below it.
		const isBelow = row >= chains.length;
		for (const node of nodes) {
			placed.set(node, isBelow ? [column, row + 1] : [next++, chains.length]);
		}
	}
	return [...placed].map(([node, [column, row]]) => ({
		node,
		position: [column * COLUMN, row * ROW],
	}));
}

function uuid(of: string): string {
	const hex = createHash('sha256').update(of).digest('hex');
	return [
		hex.slice(0, 8),
		hex.slice(8, 12),
		`5${hex.slice(13, 16)}`,
		`a${hex.slice(17, 20)}`,
		hex.slice(20, 32),
	].join('-');
}
