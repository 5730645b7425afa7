import { isRecord } from '../http/json';
import { FAULT_KINDS } from './kinds';
import { ENDPOINTS, PAGINATION_LIES, type Fault } from './types';

const NEEDED: Record<string, Record<string, 'number' | 'string'>> = {
	status: { status: 'number' },
	delay: { ms: 'number' },
	delayAfterProcessing: { ms: 'number' },
	slowBody: { ms: 'number' },
	redirect: { to: 'string' },
	paginationLies: { lie: 'string' },
};

/** What is wrong with a fault that came over HTTP; undefined if nothing is. */
export function faultProblem(value: unknown): string | undefined {
	if (!isRecord(value)) return 'A fault is an object';
	const { kind, endpoint, times } = value;
	if (typeof kind !== 'string' || !FAULT_KINDS.includes(kind)) {
		return `kind is one of ${FAULT_KINDS.join(', ')}`;
	}
	const endpoints: readonly unknown[] = [undefined, '*', ...ENDPOINTS];
	if (!endpoints.includes(endpoint)) return `endpoint is * or one of ${ENDPOINTS.join(', ')}`;
	if (times !== undefined && times !== 'always' && typeof times !== 'number') {
		return "times is a number or 'always'";
	}
	for (const [name, type] of Object.entries(NEEDED[kind] ?? {})) {
		if (typeof value[name] !== type) return `${kind} needs ${name} (${type})`;
	}
	const lies: readonly unknown[] = PAGINATION_LIES;
	if (kind === 'paginationLies' && !lies.includes(value['lie'])) {
		return `lie is one of ${PAGINATION_LIES.join(', ')}`;
	}
	return undefined;
}

/** Narrows a value whose problems have been ruled out. */
export function isFault(value: unknown): value is Fault {
	return faultProblem(value) === undefined;
}
