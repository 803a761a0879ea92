"""Where ranks run: in this process, or in standing pools of real processes."""
