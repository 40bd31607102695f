package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"
	"github.com/wailsapp/wails/v2/pkg/runtime"

	native "github.com/countersign-app/countersign/app/mac"
	"github.com/countersign-app/countersign/frontend"
)

// window is the one window. It is the panel while a question waits, and the
// settings otherwise.
type window interface {
	// Show brings the window to the front in the middle of the screen, above
	// others if top.
	Show(s size, top bool)
	// Front brings a window that is shown to the front where it is.
	Front(top bool)
	// TakeKeyboard gives the window the keyboard: a person asked to see it.
	TakeKeyboard()
	// Resize gives a window that is shown another size.
	Resize(s size)
	Hide()
	// Tell sends an event to the page.
	Tell(event string, data ...any)
	// SaveAs has the person choose where a file with this name is written. "" is
	// for nowhere.
	SaveAs(name string) (at string, err error)
	// Open has the person choose a file that is read, "" for none.
	Open() (at string, err error)
	// Quit ends the app.
	Quit()
}

// size is in points.
type size struct{ width, height int }

// Sizes are those of the design. The panel grows with what it shows.
var (
	settingsSize = size{920, 640}
	firstRunSize = size{720, 504}
	smallest     = size{480, 360}
)

func panelSize(height int) size { return size{560, min(max(height, 480), 720)} }

// openWindow runs the window until the app ends. It must be called on the
// main thread.
func openWindow(a *app) (err error) {
	defer func() {
		// GTK cannot be asked whether it would start; it panics.
		if r := recover(); r != nil && a.window == nil {
			err = fmt.Errorf("%s (%v)", noDisplay, r)
		} else if r != nil {
			panic(r)
		}
	}()
	assets, err := frontend.Assets()
	if err != nil {
		return err
	}
	native.LiveInMenuBar()
	native.Listen(native.Listener{Reviewed: a.review, Summoned: a.summon, Reopened: a.openSettings, Quit: a.quit})
	native.HearNotices()
	err = wails.Run(&options.App{
		Title: "Countersign", Width: settingsSize.width, Height: settingsSize.height,
		MinWidth: smallest.width, MinHeight: smallest.height,
		StartHidden:        true,
		AssetServer:        &assetserver.Options{Assets: assets},
		LogLevelProduction: logger.ERROR,
		OnStartup: func(ctx context.Context) {
			if !barFirst {
				a.openBar()
			}
			native.TakeShortcut()
			native.HearEvents()
			a.opened(wailsWindow{ctx})
		},
		OnBeforeClose:            func(context.Context) bool { return a.keepOpen() },
		Bind:                     []any{a.activity, a.approvals, a.settings},
		DragAndDrop:              &options.DragAndDrop{DisableWebViewDrop: true},
		EnableDefaultContextMenu: false,
		Linux:                    &linux.Options{ProgramName: "Countersign", WebviewGpuPolicy: linux.WebviewGpuPolicyNever},
		Mac: &mac.Options{
			TitleBar: mac.TitleBarHiddenInset(), DisableZoom: true,
			WebviewIsTransparent: true, WindowIsTranslucent: true, // the page decides where
		},
	})
	if err != nil {
		return errors.New("cannot open the window: " + err.Error())
	}
	return nil
}

// wailsWindow is the real window.
type wailsWindow struct{ ctx context.Context }

func (w wailsWindow) Show(s size, top bool) {
	w.Resize(s)
	runtime.WindowCenter(w.ctx)
	w.Front(top)
}

func (w wailsWindow) Front(top bool) {
	runtime.WindowSetAlwaysOnTop(w.ctx, top)
	if top && native.OrderFront() {
		return // a question takes nobody's keyboard
	}
	native.Settle()
	runtime.WindowShow(w.ctx)
	native.TakeKeyboard()
}

func (w wailsWindow) TakeKeyboard() { native.TakeKeyboard() }

// Resize leaves a fifth of the screen free, whatever was asked for.
func (w wailsWindow) Resize(s size) {
	screens, err := runtime.ScreenGetAll(w.ctx)
	for _, screen := range screens {
		if err == nil && screen.IsCurrent {
			s.height = min(s.height, max(smallest.height, screen.Size.Height*4/5))
		}
	}
	runtime.WindowSetSize(w.ctx, s.width, s.height)
}

func (w wailsWindow) Hide() {
	runtime.WindowHide(w.ctx)
	native.GiveBack()
}

func (w wailsWindow) Tell(event string, data ...any) { runtime.EventsEmit(w.ctx, event, data...) }

func (w wailsWindow) SaveAs(name string) (string, error) {
	return runtime.SaveFileDialog(w.ctx, runtime.SaveDialogOptions{DefaultFilename: name, CanCreateDirectories: true})
}

func (w wailsWindow) Open() (string, error) {
	return runtime.OpenFileDialog(w.ctx, runtime.OpenDialogOptions{})
}

func (w wailsWindow) Quit() { runtime.Quit(w.ctx) }
