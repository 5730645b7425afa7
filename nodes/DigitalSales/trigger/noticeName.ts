import type { Notice } from '../notice/parse';

const LONGEST_STATUS = 100;

/** What an item says of a transaction. */
export interface Emission extends Pick<Notice, 'hash' | 'status'> {
	/** Whether the service said so itself: what a notice merely claims must never hide that. */
	verified: boolean;
}

/** What must start the workflow only once. A hash may hold any character; encoded, it is unmistakable. */
export function noticeName({ hash, status = '', verified }: Emission): string {
	const claimed = verified ? '' : 'claimed ';
	return `${claimed}${encodeURIComponent(hash)}|${status.slice(0, LONGEST_STATUS)}`;
}
