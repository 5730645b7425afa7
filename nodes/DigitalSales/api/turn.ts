import type { IDataObject } from 'n8n-workflow';

/** What a look found, for as long as another look would be too soon. */
export interface Found {
	transaction: IDataObject;
	status?: string;
}

/** One look at a subject: under way, or done a moment ago. */
export interface Turn {
	/** What the notice claims that made somebody look; while the look is under way. */
	inHand?: { claim?: string; ended: Promise<void> };
	/** A second notice is waiting for its turn. */
	held: boolean;
	/** When the subject may be looked at again. */
	freeAt: number;
	found?: Found;
	/** Nobody needs to look at it any more. */
	over?: boolean;
}
