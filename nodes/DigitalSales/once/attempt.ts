import type { IDataObject } from 'n8n-workflow';

/** An attempt to create something that may exist only once. */
export interface Attempt {
	/** In doubt from just before the request leaves until its outcome is known. */
	state: 'inDoubt' | 'made';
	/** The account in which it was made, by its key. */
	account: string;
	/** What was asked for, and for whom. */
	fingerprint: string;
	/** The total in integer cents, where it is known. */
	amount?: number;
	/** In milliseconds of unix time. */
	startedAt: number;
	/** How often the user had allowed it with a code. */
	allowed: number;
	/** What was made: enough of it to give it again. */
	result?: IDataObject;
}
