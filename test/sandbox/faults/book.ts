import { isAnswerFault, isChangingFault, isNoticeFault } from './kinds';
import type { AnswerFault, ChangingFault, Endpoint, Fault, NoticeFault } from './types';

interface Entry {
	readonly fault: Fault;
	left: number;
	skip: number;
}

/** The faults that strike one request: at most one of each kind, and one answer in all. */
export class StruckFaults {
	constructor(private readonly all: readonly (AnswerFault | ChangingFault)[]) {}

	get answer(): AnswerFault | undefined {
		return this.all.find(isAnswerFault);
	}

	of<K extends ChangingFault['kind']>(kind: K): Extract<ChangingFault, { kind: K }> | undefined {
		return this.all.find(
			(fault): fault is Extract<ChangingFault, { kind: K }> => fault.kind === kind,
		);
	}

	get kinds(): string[] {
		return this.all.map((fault) => fault.kind);
	}
}

/** Keeps the faults switched on and says which of them strike. */
export class FaultBook {
	private entries: Entry[] = [];

	add(fault: Fault): void {
		const times = fault.times ?? 1;
		const left = times === 'always' ? Infinity : times;
		this.entries.push({ fault, left, skip: fault.after ?? 0 });
	}

	clear(): void {
		this.entries = [];
	}

	/** What is still switched on, for the state shown to people. */
	list(): Array<{ fault: Fault; left: number | 'always' }> {
		return this.entries.map(({ fault, left }) => ({
			fault,
			left: left === Infinity ? 'always' : left,
		}));
	}

	strikeRequest(endpoint: Endpoint, query: Record<string, string>): StruckFaults {
		const struck: Array<AnswerFault | ChangingFault> = [];
		for (const entry of this.entries) {
			const { fault } = entry;
			if (isNoticeFault(fault) || !matches(fault, endpoint, query)) continue;
			if (this.spare(entry)) continue;
			const group = isAnswerFault(fault) ? struck.some(isAnswerFault) : false;
			if (group || struck.some((other) => other.kind === fault.kind)) continue;
			if (isAnswerFault(fault) || isChangingFault(fault)) struck.push(fault);
			entry.left -= 1;
		}
		this.forgetSpent();
		return new StruckFaults(struck);
	}

	strikeNotice(): NoticeFault | undefined {
		for (const entry of this.entries) {
			if (!isNoticeFault(entry.fault) || this.spare(entry)) continue;
			entry.left -= 1;
			this.forgetSpent();
			return entry.fault;
		}
		return undefined;
	}

	private spare(entry: Entry): boolean {
		if (entry.skip <= 0) return false;
		entry.skip -= 1;
		return true;
	}

	private forgetSpent(): void {
		this.entries = this.entries.filter((entry) => entry.left > 0);
	}
}

function matches(fault: Fault, endpoint: Endpoint, query: Record<string, string>): boolean {
	const where = fault.endpoint ?? '*';
	if (where !== '*' && where !== endpoint) return false;
	return Object.entries(fault.query ?? {}).every(([name, value]) => query[name] === value);
}
